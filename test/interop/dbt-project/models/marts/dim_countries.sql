select code, row_number() over (order by code) as number from {{ ref('int_countries') }}
