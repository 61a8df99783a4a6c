{{ config(materialized='incremental', unique_key='payment_id') }}
select payment_id, order_id, amount, paid_at from {{ ref('stg_payments') }}
{% if is_incremental() %} where paid_at > (select max(paid_at) from {{ this }}) {% endif %}
