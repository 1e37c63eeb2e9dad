-- Text columns that collections sort by have the collation "C": the order is the same on every server, and a prefix can use the index.
-- Timestamps have the milliseconds that the API shows, so that a value that a client read equals the stored value.

-- A version is new with every write and never used again, also not after a row was deleted and created again, or restored from a backup.
CREATE FUNCTION next_version() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.version := gen_random_uuid(); RETURN NEW; END';

CREATE TABLE categories (
  id uuid PRIMARY KEY,
  name text COLLATE "C" NOT NULL CONSTRAINT categories_name_key UNIQUE,
  description text
);

-- The date of a product is a validator, so it is that of the write, not of the beginning of its transaction, which may have waited for another
-- change, and it never decreases.
CREATE TABLE products (
  id uuid PRIMARY KEY,
  name text COLLATE "C" NOT NULL,
  description text,
  category_id uuid NOT NULL CONSTRAINT products_category_id_fkey REFERENCES categories,
  unit_price numeric(12, 2) NOT NULL CHECK (unit_price >= 0),
  currency text NOT NULL,
  units_in_stock integer NOT NULL CHECK (units_in_stock >= 0),
  discontinued boolean NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT statement_timestamp(),
  updated_at timestamptz(3) NOT NULL DEFAULT statement_timestamp(),
  version uuid NOT NULL DEFAULT gen_random_uuid()
);
CREATE INDEX ON products (name, id);
CREATE INDEX ON products (unit_price, id);
CREATE INDEX ON products (created_at, id);
CREATE INDEX ON products (category_id, name, id);
CREATE INDEX ON products (discontinued, name, id);
CREATE FUNCTION next_dated_version() RETURNS trigger LANGUAGE plpgsql AS
  'BEGIN NEW.version := gen_random_uuid(); NEW.updated_at := greatest(clock_timestamp(), OLD.updated_at); RETURN NEW; END';
CREATE TRIGGER products_version BEFORE UPDATE ON products FOR EACH ROW EXECUTE FUNCTION next_dated_version();

CREATE TABLE product_images (
  id uuid PRIMARY KEY,
  product_id uuid NOT NULL CONSTRAINT product_images_product_id_fkey REFERENCES products ON DELETE CASCADE,
  media_type text NOT NULL,
  width integer NOT NULL,
  height integer NOT NULL,
  content bytea NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX ON product_images (product_id, created_at, id);

-- The email address of a customer is contact data that is not verified. If it were unique, a customer could find out which addresses exist, and
-- take one that belongs to another. Users sign in with the address in the table users.
CREATE TABLE customers (
  id uuid PRIMARY KEY,
  company_name text COLLATE "C" NOT NULL,
  contact_name text NOT NULL,
  email text NOT NULL,
  country text COLLATE "C" NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  version uuid NOT NULL DEFAULT gen_random_uuid()
);
CREATE INDEX ON customers (company_name, id);
CREATE INDEX ON customers (created_at, id);
CREATE INDEX ON customers (country, company_name, id);
CREATE TRIGGER customers_version BEFORE UPDATE ON customers FOR EACH ROW EXECUTE FUNCTION next_version();

CREATE TABLE orders (
  id uuid PRIMARY KEY,
  customer_id uuid NOT NULL CONSTRAINT orders_customer_id_fkey REFERENCES customers,
  status text COLLATE "C" NOT NULL CHECK (status IN ('pending', 'paid', 'shipped', 'cancelled')),
  placed_at timestamptz(3) NOT NULL DEFAULT now(),
  shipped_at timestamptz(3),
  total numeric(20, 2) NOT NULL,
  currency text NOT NULL,
  note text,
  version uuid NOT NULL DEFAULT gen_random_uuid()
);
CREATE INDEX ON orders (placed_at, id);
CREATE INDEX ON orders (total, id);
CREATE INDEX ON orders (status, placed_at, id);
CREATE INDEX ON orders (customer_id, placed_at, id);
CREATE INDEX ON orders (customer_id, total, id);
CREATE INDEX ON orders (customer_id, status, placed_at, id);
CREATE TRIGGER orders_version BEFORE UPDATE ON orders FOR EACH ROW EXECUTE FUNCTION next_version();

CREATE TABLE order_items (
  id uuid PRIMARY KEY,
  order_id uuid NOT NULL CONSTRAINT order_items_order_id_fkey REFERENCES orders ON DELETE CASCADE,
  product_id uuid NOT NULL CONSTRAINT order_items_product_id_fkey REFERENCES products,
  quantity integer NOT NULL CHECK (quantity BETWEEN 1 AND 10000),
  unit_price numeric(12, 2) NOT NULL,
  version uuid NOT NULL DEFAULT gen_random_uuid()
);
CREATE INDEX ON order_items (order_id, id);
CREATE INDEX ON order_items (product_id);
CREATE TRIGGER order_items_version BEFORE UPDATE ON order_items FOR EACH ROW EXECUTE FUNCTION next_version();

CREATE TABLE order_cancellations (
  order_id uuid PRIMARY KEY CONSTRAINT order_cancellations_order_id_fkey REFERENCES orders ON DELETE CASCADE,
  cancelled_at timestamptz(3) NOT NULL DEFAULT now(),
  reason text
);

-- The users that can sign in. The user of a customer has the id of the customer.
CREATE TABLE users (
  id uuid PRIMARY KEY,
  email text NOT NULL,
  password_hash text NOT NULL,
  role text NOT NULL CHECK (role IN ('customer', 'staff', 'administrator'))
);
CREATE UNIQUE INDEX users_email_key ON users (lower(email));

-- The progress of the sample data, so that rows that were deleted manually are not restored.
CREATE TABLE seedings (
  name text PRIMARY KEY,
  rows integer NOT NULL
);
