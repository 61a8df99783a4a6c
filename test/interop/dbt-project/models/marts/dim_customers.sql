select c.customer_id, c.first_name || ' ' || c.last_name as full_name, c.email, c.country,
  e.kind as last_event, e.seen_at as last_seen
from {{ ref('stg_customers') }} c left join {{ ref('int_customer_events') }} e on e.customer_id = c.customer_id
