{% macro euros(column) %}round({{ column }} / 100.0, 2){% endmacro %}

{% macro key(columns) -%}
md5({% for column in columns %}coalesce(cast({{ column }} as varchar), ''){% if not loop.last %} || '-' || {% endif %}{% endfor %})
{%- endmacro %}

{% macro sum_by(values, of, by) -%}
{% for value in values %}
sum(case when {{ by }} = '{{ value }}' then {{ of }} else 0 end) as {{ value }}_{{ of }}{% if not loop.last %},{% endif %}
{% endfor %}
{%- endmacro %}

{% macro newest(relation, by, order) -%}
select * from {{ relation }} qualify row_number() over (partition by {{ by }} order by {{ order }} desc) = 1
{%- endmacro %}
