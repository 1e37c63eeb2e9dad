import type { JobChange, JobStore, StoredJob } from '@concordat/jobs'
import type { Transaction } from '@concordat/work-queue'
import { type Postgres, type StoreOptions, schemaOf } from './connections/postgres.ts'
import { jobOutputs } from './job-outputs.ts'
import { jobSchedules } from './job-schedules.ts'
import { joined } from './joined.ts'
import { type Migration, migrationsOf } from './migrations/migration.ts'

/** The migrations that create the tables of {@link postgresJobStore}; pass them to `migrate`. */
export const jobMigrations: readonly Migration[] = migrationsOf(
  'jobs',
  [
    `CREATE TABLE {schema}.jobs (
        id uuid PRIMARY KEY,
        type text NOT NULL,
        owner text NOT NULL,
        state text NOT NULL,
        attempt integer NOT NULL,
        tries integer NOT NULL,
        progress double precision NOT NULL,
        input jsonb NOT NULL,
        result jsonb,
        error jsonb,
        created_at double precision NOT NULL,
        expires_at double precision
      )`,
    `CREATE INDEX jobs_expires_at ON {schema}.jobs (expires_at)`
  ],
  [`CREATE INDEX jobs_of_owner ON {schema}.jobs (owner, type, created_at, id)`],
  [
    `CREATE TABLE {schema}.job_outputs (
        job_id uuid NOT NULL REFERENCES {schema}.jobs ON DELETE CASCADE,
        number integer NOT NULL,
        piece text NOT NULL,
        PRIMARY KEY (job_id, number)
      )`
  ],
  // Of the jobs that have not ended, which are few.
  [`CREATE INDEX jobs_open ON {schema}.jobs (owner, type) WHERE expires_at IS NULL`],
  [
    `CREATE TABLE {schema}.job_schedules (
        name text PRIMARY KEY,
        job text NOT NULL,
        timing text NOT NULL,
        next_at double precision NOT NULL,
        is_paused boolean NOT NULL DEFAULT false,
        requested_at double precision,
        last_at double precision,
        last_job_id uuid,
        seen_at double precision NOT NULL
      )`
  ],
  ['ALTER TABLE {schema}.jobs ADD COLUMN tenant text']
)

const types: Readonly<Record<keyof JobChange, string>> = {
  state: 'text',
  attempt: 'integer',
  tries: 'integer',
  progress: 'double precision',
  result: 'jsonb',
  error: 'jsonb',
  expiresAt: 'double precision'
}

// A null result differs from a missing one, so each member without a value is left out separately.
const json = `(jsonb_build_object('id', id, 'type', type, 'owner', owner, 'state', state, 'attempt', attempt, 'tries', tries,
    'progress', progress, 'input', input, 'createdAt', created_at)
  || CASE WHEN tenant IS NULL THEN '{}' ELSE jsonb_build_object('tenant', tenant) END
  || CASE WHEN result IS NULL THEN '{}' ELSE jsonb_build_object('result', result) END
  || CASE WHEN error IS NULL THEN '{}' ELSE jsonb_build_object('error', error) END
  || CASE WHEN expires_at IS NULL THEN '{}' ELSE jsonb_build_object('expiresAt', expires_at) END)::text AS json`

/** Creates a store of job records in the database of the work queue, so that a record and its job change in one transaction. */
export function postgresJobStore(database: Postgres, options: StoreOptions = {}): JobStore {
  const schema = schemaOf(options)
  const [table, outputs] = [`${schema}.jobs`, `${schema}.job_outputs`]

  async function read(id: string, transaction?: Transaction) {
    return (await joined(database, transaction).query<StoredJob>(`SELECT ${json} FROM ${table} WHERE id = $1::uuid`, [id]))[0]
  }

  return {
    schedules: jobSchedules(database, schema),
    async add(job, transaction, maxOpen) {
      const { id, type, owner, tenant, state, input, attempt, tries, progress, createdAt } = job
      for (;;) {
        const [outcome] = await joined(database, transaction).query<'added' | 'full' | 'known'>(
          `WITH open AS (SELECT count(*) >= $10::bigint AS is_full FROM (SELECT FROM ${table} WHERE owner = $3 AND type = $2 AND expires_at IS NULL LIMIT coalesce($10::bigint, 0)) AS found),
          added AS (
            INSERT INTO ${table} (id, type, owner, state, attempt, tries, progress, input, created_at, tenant)
            SELECT $1::uuid, $2, $3, $4, $5::integer, $6::integer, $7::double precision, $8::text::jsonb, $9::double precision, $11
            FROM open WHERE is_full IS NOT TRUE ON CONFLICT DO NOTHING RETURNING 1
          )
          SELECT to_json(CASE WHEN EXISTS (SELECT FROM added) THEN 'added' WHEN is_full THEN 'full' ELSE 'known' END)::text AS json FROM open`,
          [id, type, owner, state, attempt, tries, progress, JSON.stringify(input), createdAt, maxOpen ?? null, tenant ?? null]
        )
        if (outcome === 'added') return undefined
        const existing = await read(id, transaction)
        // A sweep can delete an expired record between the two statements.
        if (existing !== undefined || outcome === 'full') return existing ?? 'full'
      }
    },
    read: (id) => read(id),
    async list({ type, owner, now, descending, offset, limit }) {
      const order = descending ? 'created_at DESC, id DESC' : 'created_at, id'
      const [listed] = await database.query<Awaited<ReturnType<JobStore['list']>>>(
        `WITH own AS (SELECT * FROM ${table} WHERE owner = $1 AND type = $2 AND (expires_at IS NULL OR expires_at > $3::double precision)),
        page AS (SELECT * FROM own ORDER BY ${order} OFFSET $4 LIMIT $5)
        SELECT jsonb_build_object('total', (SELECT count(*) FROM own), 'jobs', COALESCE((
          SELECT jsonb_agg(jsonb_build_object('id', id, 'state', state, 'createdAt', created_at)
            || CASE WHEN result IS NULL THEN '{}' ELSE jsonb_build_object('result', result) END ORDER BY ${order}) FROM page
        ), '[]'))::text AS json`,
        [owner, type, now, offset, limit]
      )
      return listed as Awaited<ReturnType<JobStore['list']>>
    },
    async change(id, { states, attempt }, change, transaction) {
      const { sets, values } = assignmentsOf(change, 4)
      const changed = await joined(database, transaction).query(
        `WITH changed AS (
          UPDATE ${table} SET ${sets.join(', ')} WHERE id = $1::uuid AND state = ANY($2::text[]) AND ($3::integer IS NULL OR attempt = $3::integer)
          RETURNING id
        )${endsOutput(change) ? `, ended AS (DELETE FROM ${outputs} USING changed WHERE job_id = id)` : ''}
        SELECT 'true' AS json FROM changed`,
        [id, [...states], attempt ?? null, ...values]
      )
      return changed.length > 0
    },
    ...jobOutputs(database, schema),
    // A job is deleted by the first sweep that finds it without output, because its deletion would otherwise delete any amount of output.
    async sweep(expiredBefore, maximum) {
      const [count] = await database.background.query<number>(
        `WITH expired AS MATERIALIZED (
          SELECT id FROM ${table} WHERE expires_at < $1 ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED
        ),
        pieces AS (
          DELETE FROM ${outputs} WHERE ctid = ANY (ARRAY(
            SELECT piece.ctid FROM expired CROSS JOIN LATERAL (SELECT ctid FROM ${outputs} WHERE job_id = expired.id LIMIT $2) AS piece LIMIT $2
          )) RETURNING 1
        ),
        gone AS (
          DELETE FROM ${table} WHERE id = ANY (ARRAY(
            SELECT id FROM expired WHERE NOT EXISTS (SELECT FROM ${outputs} WHERE job_id = expired.id)
          ))
        )
        SELECT greatest((SELECT count(*) FROM expired), (SELECT count(*) FROM pieces))::text AS json`,
        [expiredBefore, maximum]
      )
      return count ?? 0
    }
  }
}

// The first value of the change has this number among the parameters.
function assignmentsOf(change: JobChange, first: number) {
  const names = (Object.keys(change) as (keyof JobChange)[]).filter((name) => change[name] !== undefined)
  const sets = names.map((name, index) => `${name === 'expiresAt' ? 'expires_at' : name} = $${index + first}::text::${types[name]}`)
  if (change.state === 'queued') sets.push('error = NULL', 'expires_at = NULL')
  const values = names.map((name) => (types[name] === 'jsonb' ? JSON.stringify(change[name]) : String(change[name])))
  return { sets, values }
}

function endsOutput({ state }: JobChange) {
  return state !== undefined && state !== 'completed'
}
