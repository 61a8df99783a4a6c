select * from (
  select category, strftime(ordered_on, '%m') as month, margin from {{ ref('fct_items') }}
) pivot (sum(margin) for month in ('02', '03'))
