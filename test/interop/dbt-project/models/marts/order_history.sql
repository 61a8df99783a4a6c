select order_id, status, dbt_valid_from as since, dbt_valid_to as until from {{ ref('orders_snapshot') }}
