{{ config(materialized='table') }}
select o.id, c.name as country, o.amount
from {{ ref('positive_orders') }} as o
join {{ ref('countries') }} as c on c.code = o.country
