with source as (select * from {{ ref('customers') }}),
renamed as (
  select id as customer_id, first_name, last_name, lower(email) as email, country, created_at from source
)
select * from renamed
