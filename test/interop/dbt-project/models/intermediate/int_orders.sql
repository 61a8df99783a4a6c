select o.*, t.items_total, t.lines, p.card_amount, p.voucher_amount, p.paid
from {{ ref('stg_orders') }} o
left join {{ ref('int_order_totals') }} t on t.order_id = o.order_id
left join {{ ref('int_order_payments') }} p on p.order_id = o.order_id
