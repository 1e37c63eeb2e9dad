-- A version is new with every write, and never used again.
CREATE FUNCTION next_version() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.version := gen_random_uuid(); RETURN NEW; END';

-- The collation "C" sorts the same on every server, and its index also finds prefixes. Times have the milliseconds that the API shows.
CREATE TABLE authors (
  id uuid PRIMARY KEY,
  name text COLLATE "C" NOT NULL CONSTRAINT authors_name_key UNIQUE,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  version uuid NOT NULL DEFAULT gen_random_uuid()
);
CREATE INDEX ON authors (name, id);
CREATE INDEX ON authors (created_at, id);
CREATE TRIGGER authors_version BEFORE UPDATE ON authors FOR EACH ROW EXECUTE FUNCTION next_version();
