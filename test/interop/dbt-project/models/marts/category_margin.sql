select category, sum(margin) as margin, sum(margin) / nullif(sum(quantity), 0) as margin_per_unit from {{ ref('fct_items') }} group by 1
