-- Each change of a product or an order has a number. It is the entity tag that clients read, and the version that the preconditions of
-- their changes name.
ALTER TABLE products ADD COLUMN version bigint NOT NULL DEFAULT 1;
ALTER TABLE orders ADD COLUMN version bigint NOT NULL DEFAULT 1;
CREATE FUNCTION next_version() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.version := OLD.version + 1; RETURN NEW; END';
CREATE TRIGGER products_version BEFORE UPDATE ON products FOR EACH ROW EXECUTE FUNCTION next_version();
CREATE TRIGGER orders_version BEFORE UPDATE ON orders FOR EACH ROW EXECUTE FUNCTION next_version();
