-- A version is new with every write and never used again, also not after a row was deleted and created again, or restored from a backup.
CREATE OR REPLACE FUNCTION next_version() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.version := gen_random_uuid(); RETURN NEW; END';
ALTER TABLE products ALTER COLUMN version DROP DEFAULT, ALTER COLUMN version TYPE uuid USING gen_random_uuid(), ALTER COLUMN version SET DEFAULT gen_random_uuid();
ALTER TABLE orders ALTER COLUMN version DROP DEFAULT, ALTER COLUMN version TYPE uuid USING gen_random_uuid(), ALTER COLUMN version SET DEFAULT gen_random_uuid();
ALTER TABLE customers ADD COLUMN version uuid NOT NULL DEFAULT gen_random_uuid();
ALTER TABLE order_items ADD COLUMN version uuid NOT NULL DEFAULT gen_random_uuid();
CREATE TRIGGER customers_version BEFORE UPDATE ON customers FOR EACH ROW EXECUTE FUNCTION next_version();
CREATE TRIGGER order_items_version BEFORE UPDATE ON order_items FOR EACH ROW EXECUTE FUNCTION next_version();
