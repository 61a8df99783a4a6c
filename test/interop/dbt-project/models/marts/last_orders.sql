select d.full_name, l.order_id, l.total
from {{ ref('dim_customers') }} d,
lateral (select order_id, total from {{ ref('fct_orders') }} f where f.customer_id = d.customer_id order by ordered_on desc limit 1) l
