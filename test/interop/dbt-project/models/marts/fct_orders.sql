select *, items_total + shipping as total, total - coalesce(paid, 0) as due from {{ ref('int_orders') }}
