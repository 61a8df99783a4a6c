select id as payment_id, order_id, method, {{ euros('amount_cents') }} as amount, paid_at from {{ source('raw', 'payments') }}
