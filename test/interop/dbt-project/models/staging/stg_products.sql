select id as product_id, name as product, category, {{ euros('cost_cents') }} as cost,
  json_extract_string(attributes, '$.colour') as colour
from {{ ref('products') }}
