select order_id, sum(quantity * price) as items_total, count(*) as lines, max(price) as highest_price
from {{ ref('stg_order_items') }} group by order_id
