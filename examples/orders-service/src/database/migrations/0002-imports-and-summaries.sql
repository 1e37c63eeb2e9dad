-- What an import has done so far, under the id of its file. It is written with the lines that it counts, so an attempt that continues after another
-- knows which lines it must not read again.
CREATE TABLE product_imports (
  file_id uuid PRIMARY KEY,
  lines_read integer NOT NULL DEFAULT 0,
  created integer NOT NULL DEFAULT 0,
  changed integer NOT NULL DEFAULT 0,
  unchanged integer NOT NULL DEFAULT 0,
  refused integer NOT NULL DEFAULT 0,
  refusals jsonb NOT NULL DEFAULT '[]',
  created_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX ON product_imports (created_at);

CREATE TABLE order_summaries (
  day date PRIMARY KEY,
  orders integer NOT NULL,
  totals jsonb NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now()
);
