-- The owner of each export. It is deleted with the record of its job, and its files are deleted with it.
CREATE TABLE order_exports (
  id uuid PRIMARY KEY CONSTRAINT order_exports_id_fkey REFERENCES concordat.jobs ON DELETE CASCADE,
  owner text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX ON order_exports (owner, created_at, id);

-- One file for each attempt of the job. The file that the result names is complete.
CREATE TABLE order_export_files (
  id uuid PRIMARY KEY,
  export_id uuid NOT NULL CONSTRAINT order_export_files_export_id_fkey REFERENCES order_exports ON DELETE CASCADE
);
CREATE INDEX ON order_export_files (export_id);

-- Orders as JSON, separated by commas.
CREATE TABLE order_export_chunks (
  file_id uuid NOT NULL CONSTRAINT order_export_chunks_file_id_fkey REFERENCES order_export_files ON DELETE CASCADE,
  number integer NOT NULL,
  orders text NOT NULL,
  PRIMARY KEY (file_id, number)
);
