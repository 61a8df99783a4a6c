with recursive chain as (
  select event_id, customer_id, seen_at, 1 as depth from {{ ref('fct_events') }} where previous_at is null
  union all
  select e.event_id, e.customer_id, e.seen_at, c.depth + 1 from {{ ref('fct_events') }} e
  join chain c on c.customer_id = e.customer_id and e.previous_at = c.seen_at
)
select event_id, customer_id, max(depth) as depth from chain group by 1, 2
