select id, country, amount from {{ ref('raw_orders') }}
