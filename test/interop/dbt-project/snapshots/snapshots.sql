{% snapshot orders_snapshot %}
{{ config(target_schema='history', unique_key='order_id', strategy='check', check_cols=['status']) }}
select * from {{ ref('stg_orders') }}
{% endsnapshot %}

{% snapshot customers_snapshot %}
{{ config(target_schema='history', unique_key='customer_id', strategy='timestamp', updated_at='created_at') }}
select customer_id, email, country, created_at from {{ ref('stg_customers') }}
{% endsnapshot %}
