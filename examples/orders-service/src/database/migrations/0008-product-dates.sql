-- The date of a product is a validator, so it is that of the write, not of the beginning of its transaction, which may have waited for another
-- change, and it never decreases.
CREATE FUNCTION next_dated_version() RETURNS trigger LANGUAGE plpgsql AS
  'BEGIN NEW.version := gen_random_uuid(); NEW.updated_at := greatest(clock_timestamp(), OLD.updated_at); RETURN NEW; END';
DROP TRIGGER products_version ON products;
CREATE TRIGGER products_version BEFORE UPDATE ON products FOR EACH ROW EXECUTE FUNCTION next_dated_version();
ALTER TABLE products ALTER COLUMN created_at SET DEFAULT statement_timestamp(), ALTER COLUMN updated_at SET DEFAULT statement_timestamp();
