select country, sum(amount) as revenue from {{ ref('orders') }} group by country
