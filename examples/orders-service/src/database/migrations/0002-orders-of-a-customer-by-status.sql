-- A customer's list of orders in one status, latest first.
CREATE INDEX ON orders (customer_id, status, placed_at, id);
