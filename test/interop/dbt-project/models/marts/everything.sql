select f.*, d.* exclude (customer_id, country), v.spent as customer_spent
from {{ ref('fct_orders') }} f join {{ ref('dim_customers') }} d on d.customer_id = f.customer_id
left join {{ ref('customer_value') }} v on v.customer_id = f.customer_id
