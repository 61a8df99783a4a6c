select i.item_key, i.order_id, o.ordered_on, p.product, p.category, i.quantity, i.quantity * (i.price - p.cost) as margin
from {{ ref('stg_order_items') }} i join {{ ref('stg_orders') }} o using (order_id)
join {{ ref('stg_products') }} p on p.product_id = i.product_id
