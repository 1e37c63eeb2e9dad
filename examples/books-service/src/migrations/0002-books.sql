CREATE TABLE books (
  id uuid PRIMARY KEY,
  title text COLLATE "C" NOT NULL,
  author_id uuid NOT NULL CONSTRAINT books_author_id_fkey REFERENCES authors,
  year integer NOT NULL,
  summary text,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  version uuid NOT NULL DEFAULT gen_random_uuid()
);
CREATE INDEX ON books (created_at, id);
CREATE INDEX ON books (title, id);
CREATE INDEX ON books (year, id);
CREATE INDEX ON books (author_id, created_at, id);
CREATE TRIGGER books_version BEFORE UPDATE ON books FOR EACH ROW EXECUTE FUNCTION next_version();
