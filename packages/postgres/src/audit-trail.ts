import type { AuditTrailStore } from '@concordat/audit-trail'
import { describeOptions, integer, type OptionsOf } from '@concordat/plugin-kit/options'
import { type Postgres, requireSchema, storeOptions } from './connections/postgres.ts'
import { type Migration, migrationsOf } from './migrations/migration.ts'
import { statementsOn } from './rows.ts'
import { retention } from './sweep.ts'
import { unitBehind } from './unit-of-work/unit.ts'

/** The migrations that create the table of {@link postgresAuditTrailStore}; pass them to `migrate`. */
export const auditTrailMigrations: readonly Migration[] = migrationsOf(
  'audit-trail',
  [
    // In the order of the code points, so that an index serves the beginning of a path.
    `CREATE TABLE {schema}.audit_records (
        occurred_at timestamptz NOT NULL,
        id uuid NOT NULL,
        request_id text NOT NULL,
        subject text,
        client text,
        issuer text,
        permissions text[] NOT NULL,
        method text NOT NULL,
        route text NOT NULL,
        version text,
        path text COLLATE "C" NOT NULL,
        outcome text NOT NULL,
        status smallint NOT NULL,
        error_code text,
        PRIMARY KEY (occurred_at, id)
      )`,
    `CREATE INDEX audit_records_subject ON {schema}.audit_records (subject, occurred_at, id) WHERE subject IS NOT NULL`,
    `CREATE INDEX audit_records_client ON {schema}.audit_records (client, occurred_at, id) WHERE client IS NOT NULL`,
    `CREATE INDEX audit_records_path ON {schema}.audit_records (path, occurred_at, id)`,
    `CREATE INDEX audit_records_without_effect ON {schema}.audit_records (outcome, occurred_at, id) WHERE outcome <> 'committed'`
  ],
  [
    `ALTER TABLE {schema}.audit_records ADD COLUMN resource text, ADD COLUMN repetitions integer`,
    `CREATE INDEX audit_records_route ON {schema}.audit_records (route, occurred_at, id)`,
    `CREATE INDEX audit_records_resource ON {schema}.audit_records (resource, occurred_at, id)`
  ],
  [
    `ALTER TABLE {schema}.audit_records ADD COLUMN tenant text`,
    `CREATE INDEX audit_records_tenant ON {schema}.audit_records (tenant, occurred_at, id) WHERE tenant IS NOT NULL`
  ]
)

const auditTrailOptions = describeOptions('postgres', {
  ...storeOptions.members,
  /** How many days a record is retained. */
  retentionDays: integer({ default: 365, min: 1, max: 36_500 })
})

/** Options of {@link postgresAuditTrailStore}. */
export interface AuditTrailStoreOptions extends OptionsOf<typeof auditTrailOptions> {}

const dayMs = 86_400_000

const columns = `occurred_at, id, request_id, subject, client, issuer, tenant, permissions, method, route, resource, version, path, outcome, status,
  error_code, repetitions`
const given = `"occurredAt", id, "requestId", subject, client, issuer, tenant, permissions, method, route, resource, version, path, outcome, status,
  "errorCode", repetitions`
const types = `"occurredAt" timestamptz, id uuid, "requestId" text, subject text, client text, issuer text, tenant text, permissions text[],
  method text, route text, resource text, version text, path text, outcome text, status smallint, "errorCode" text, repetitions integer`

/**
 * Creates a store of audit records in PostgreSQL. The record of a request with a transaction of the unit of work is sent with its COMMIT in one message.
 * Nothing updates a record beside `repetitions`, and only the retention deletes records, each minute.
 */
export function postgresAuditTrailStore(database: Postgres, options: AuditTrailStoreOptions = {}): AuditTrailStore {
  const { schema, retentionDays } = auditTrailOptions.read(options)
  const table = `${requireSchema(schema)}.audit_records`
  const deleteBefore = retention(database, table, 'occurred_at', 'timestamptz', '')
  const insertion = `INSERT INTO ${table} AS old (${columns}) SELECT ${given} FROM json_to_recordset($1::text::json) AS given (${types})`
  const addition = `${insertion} ON CONFLICT DO NOTHING`
  // A record never changes, beside the number of the requests that were refused after it.
  const counted = `ON CONFLICT (occurred_at, id) DO UPDATE SET repetitions = excluded.repetitions
    WHERE excluded.repetitions > COALESCE(old.repetitions, 0)`

  return {
    async add(records) {
      await database.background.query(`${insertion} ${counted}`, [JSON.stringify(records)])
    },
    async addWithin(record, transaction) {
      const { session } = unitBehind(transaction, 'enclosing')
      if (!session.mayHaveWritten) return false
      await session.hold(() => ({ text: addition, values: [JSON.stringify([record])] }))
      return true
    },
    sweep: async (now, maximum) => deleteBefore(new Date(now - retentionDays * dayMs).toISOString(), maximum),
    // The client of the service's own SQL is refused in a request with a tenant, whose rows it would not see.
    source: { client: statementsOn(database.reads(undefined)).client, table }
  }
}
