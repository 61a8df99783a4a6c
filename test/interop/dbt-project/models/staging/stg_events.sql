select e.* replace (upper(kind) as kind) from {{ source('raw', 'events') }} as e
