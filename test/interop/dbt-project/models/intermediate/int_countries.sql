select distinct country as code from {{ ref('stg_customers') }}
