select (select sum(total) from {{ ref('fct_orders') }}) as revenue,
  (select count(*) from {{ ref('dim_customers') }}) as customers,
  max(d.number) as countries
from {{ ref('dim_countries') }} d
