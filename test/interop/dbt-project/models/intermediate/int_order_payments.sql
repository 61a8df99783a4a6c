select order_id, {{ sum_by(['card', 'voucher'], 'amount', 'method') }}, sum(amount) as paid
from {{ ref('stg_payments') }} group by 1
