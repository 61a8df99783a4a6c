select customer_id from {{ ref('stg_orders') }} intersect select customer_id from {{ ref('stg_events') }}
