with totals as (
  select customer_id, sum(total) as spent, min(ordered_on) as first_order from {{ ref('fct_orders') }} group by customer_id
),
ranked as (select t.*, ntile(4) over (order by spent desc) as quartile from totals t)
select d.customer_id, d.full_name, r.spent, r.first_order, case when r.quartile = 1 then d.country end as top_country
from {{ ref('dim_customers') }} d left join ranked r on r.customer_id = d.customer_id
