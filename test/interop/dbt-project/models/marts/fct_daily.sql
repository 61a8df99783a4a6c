{{ config(materialized='incremental', unique_key='day') }}
select ordered_on as day, count(distinct customer_id) as customers, sum(total) as revenue
from {{ ref('fct_orders') }}
{% if is_incremental() %} where ordered_on >= (select max(day) from {{ this }}) {% endif %}
group by all
