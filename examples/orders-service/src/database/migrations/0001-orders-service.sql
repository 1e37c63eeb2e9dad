-- Text columns that collections sort by have the collation "C": the order is the same on every server, and a prefix can use the index.
-- Timestamps have the milliseconds that the API shows, so that a value that a client read equals the stored value.

CREATE TABLE categories (
  id uuid PRIMARY KEY,
  name text COLLATE "C" NOT NULL CONSTRAINT categories_name_key UNIQUE,
  description text
);

CREATE TABLE products (
  id uuid PRIMARY KEY,
  name text COLLATE "C" NOT NULL,
  description text,
  category_id uuid NOT NULL CONSTRAINT products_category_id_fkey REFERENCES categories,
  unit_price numeric(12, 2) NOT NULL CHECK (unit_price >= 0),
  currency text NOT NULL,
  units_in_stock integer NOT NULL CHECK (units_in_stock >= 0),
  discontinued boolean NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX ON products (name, id);
CREATE INDEX ON products (unit_price, id);
CREATE INDEX ON products (created_at, id);
CREATE INDEX ON products (category_id, name, id);
CREATE INDEX ON products (discontinued, name, id);

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

CREATE TABLE customers (
  id uuid PRIMARY KEY,
  company_name text COLLATE "C" NOT NULL,
  contact_name text NOT NULL,
  email text NOT NULL,
  country text COLLATE "C" NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX customers_email_key ON customers (lower(email));
CREATE INDEX ON customers (company_name, id);
CREATE INDEX ON customers (created_at, id);
CREATE INDEX ON customers (country, company_name, id);

CREATE TABLE orders (
  id uuid PRIMARY KEY,
  customer_id uuid NOT NULL CONSTRAINT orders_customer_id_fkey REFERENCES customers,
  status text COLLATE "C" NOT NULL CHECK (status IN ('pending', 'paid', 'shipped', 'cancelled')),
  placed_at timestamptz(3) NOT NULL DEFAULT now(),
  shipped_at timestamptz(3),
  total numeric(20, 2) NOT NULL,
  currency text NOT NULL,
  note text
);
CREATE INDEX ON orders (placed_at, id);
CREATE INDEX ON orders (total, id);
CREATE INDEX ON orders (status, placed_at, id);
CREATE INDEX ON orders (customer_id, placed_at, id);
CREATE INDEX ON orders (customer_id, total, id);

CREATE TABLE order_items (
  id uuid PRIMARY KEY,
  order_id uuid NOT NULL CONSTRAINT order_items_order_id_fkey REFERENCES orders ON DELETE CASCADE,
  product_id uuid NOT NULL CONSTRAINT order_items_product_id_fkey REFERENCES products,
  quantity integer NOT NULL CHECK (quantity BETWEEN 1 AND 10000),
  unit_price numeric(12, 2) NOT NULL
);
CREATE INDEX ON order_items (order_id, id);
CREATE INDEX ON order_items (product_id);

CREATE TABLE order_cancellations (
  order_id uuid PRIMARY KEY CONSTRAINT order_cancellations_order_id_fkey REFERENCES orders ON DELETE CASCADE,
  cancelled_at timestamptz(3) NOT NULL DEFAULT now(),
  reason text
);

-- The progress of the sample data, so that rows that were deleted manually are not restored.
CREATE TABLE seedings (
  name text PRIMARY KEY,
  rows integer NOT NULL
);
