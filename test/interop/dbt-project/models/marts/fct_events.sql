{{ config(materialized='incremental', incremental_strategy='append') }}
with fresh as (
  select event_id, customer_id, kind, seen_at, date_trunc('day', seen_at) as day from {{ ref('stg_events') }}
  {% if is_incremental() %} where seen_at > (select coalesce(max(seen_at), '1900-01-01') from {{ this }}) {% endif %}
)
select fresh.*, lag(seen_at) over (partition by customer_id order by seen_at) as previous_at from fresh
