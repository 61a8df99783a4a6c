select customer_id, email as contact, 'email' as channel from {{ ref('stg_customers') }} where email is not null
union all
select customer_id, url, 'web' from {{ ref('stg_events') }}
