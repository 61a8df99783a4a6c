select customer_id, full_name from {{ ref('dim_customers') }} d
where not exists (select 1 from {{ ref('fct_orders') }} f where f.customer_id = d.customer_id)
