create table customers (id int primary key, name text not null, country text);
comment on table customers is 'People who buy';
comment on column customers.country is 'Two letters, as in ISO 3166';
create table orders (
  id int primary key,
  customer_id int references customers (id),
  amount numeric(10, 2),
  ordered_at timestamptz
);
create view order_facts as
  select orders.amount, customers.country
  from orders join customers on customers.id = orders.customer_id;
create view revenue as
  select country, sum(amount) as total from order_facts group by country;
create role reader login;
