import type { PGlite } from '@electric-sql/pglite'

const role = 'concordat_service'

// What an earlier start without the role has created belongs to the superuser. Indexes, the sequences of columns and row types follow their tables.
const ownership = `
DO $$
DECLARE statement text;
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '${role}') THEN CREATE ROLE ${role}; END IF;
  EXECUTE format('ALTER DATABASE %I OWNER TO ${role}', current_database());
  FOR statement IN
    WITH objects (class, id, owner, object) AS (
      SELECT 'pg_namespace'::regclass, oid, nspowner, format('SCHEMA %I', nspname) FROM pg_namespace
        WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'
      UNION ALL SELECT 'pg_class'::regclass, c.oid, c.relowner, format('%s %s',
          CASE c.relkind WHEN 'S' THEN 'SEQUENCE' WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE 'TABLE' END, c.oid::regclass)
        FROM pg_class c WHERE c.relkind IN ('r', 'p', 'v', 'm', 'S')
          AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = c.oid AND deptype IN ('a', 'i') AND c.relkind = 'S')
      UNION ALL SELECT 'pg_proc'::regclass, oid, proowner, format('ROUTINE %s', oid::regprocedure) FROM pg_proc
      UNION ALL SELECT 'pg_type'::regclass, oid, typowner, format('TYPE %s', oid::regtype) FROM pg_type WHERE typtype IN ('d', 'e', 'r')
    )
    SELECT format('ALTER %s OWNER TO ${role}', object) FROM objects
    -- Objects of the system have the first numbers (FirstNormalObjectId), except the schema public.
    WHERE (id >= 16384 OR id = to_regnamespace('public')) AND owner <> '${role}'::regrole
      AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = class AND objid = id AND deptype = 'e')
  LOOP
    EXECUTE statement;
  END LOOP;
END $$;
SET ROLE ${role}`

/** Lets a PGlite, which begins as a superuser, continue as an ordinary role that owns the database, as the role of a service on a server does. */
export async function becomeServiceRole(engine: PGlite): Promise<void> {
  await engine.exec(ownership)
}
