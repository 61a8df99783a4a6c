{{ newest(ref('stg_events'), 'customer_id', 'seen_at') }}
