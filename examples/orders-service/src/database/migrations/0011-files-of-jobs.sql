-- The files belong to the job itself. Who started it is in its record.
ALTER TABLE order_export_files DROP CONSTRAINT order_export_files_export_id_fkey;
ALTER TABLE order_export_files ADD CONSTRAINT order_export_files_export_id_fkey
  FOREIGN KEY (export_id) REFERENCES concordat.jobs ON DELETE CASCADE;
DROP TABLE order_exports;
