select contact, channel, count(*) as uses, max(customer_id) as newest_customer from {{ ref('int_contacts') }} group by contact, channel
