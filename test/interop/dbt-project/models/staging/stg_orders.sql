with source as (select * from {{ ref('orders') }})
select id as order_id, customer_id, status, cast(ordered_at as date) as ordered_on,
  {{ euros('shipping_cents') }} as shipping, note
from source
