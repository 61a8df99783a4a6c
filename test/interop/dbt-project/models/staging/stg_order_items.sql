select {{ key(['order_id', 'line']) }} as item_key, * exclude (price_cents), {{ euros('price_cents') }} as price
from {{ ref('order_items') }}
