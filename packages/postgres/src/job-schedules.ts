import type { ScheduleStore, StoredSchedule } from '@concordat/jobs'
import type { Postgres } from './connections/postgres.ts'
import { joined } from './joined.ts'

const maxListed = 1000

/** Creates the store of the schedules of jobs. Its statements use the connections for work in the background. */
export function jobSchedules({ background }: Postgres, schema: string): ScheduleStore {
  const table = `${schema}.job_schedules`
  const json = `(jsonb_build_object('name', name, 'job', job, 'timing', timing, 'nextAt', next_at, 'isPaused', is_paused, 'seenAt', seen_at)
    || jsonb_strip_nulls(jsonb_build_object('requestedAt', requested_at, 'lastAt', last_at, 'lastJob', (
      SELECT jsonb_build_object('id', id, 'state', state, 'createdAt', created_at, 'expiresAt', expires_at)
      FROM ${schema}.jobs WHERE id = last_job_id
    ))))::text AS json`

  return {
    list: (names) =>
      background.query<StoredSchedule>(
        `SELECT ${json} FROM ${table} WHERE $1::text[] IS NULL OR name = ANY($1) ORDER BY name LIMIT $2::integer`,
        [names ?? null, names === undefined ? maxListed : null]
      ),
    async declare(schedules, now, isStart) {
      // In one order, so that two processes do not wait for each other.
      await background.query(
        `INSERT INTO ${table} AS stored (name, job, timing, next_at, seen_at)
        SELECT name, job, timing, next_at, $5::double precision
        FROM unnest($1::text[], $2::text[], $3::text[], $4::double precision[]) AS given (name, job, timing, next_at)
        ORDER BY name
        ON CONFLICT (name) DO UPDATE SET job = excluded.job, timing = excluded.timing, seen_at = excluded.seen_at,
          next_at = CASE WHEN stored.timing = excluded.timing AND stored.seen_at <= excluded.seen_at + 60000 THEN stored.next_at ELSE excluded.next_at END
        WHERE stored.timing = excluded.timing OR $6::boolean OR abs(excluded.seen_at - stored.seen_at) > 300000`,
        [...(['name', 'job', 'timing', 'nextAt'] as const).map((name) => schedules.map((schedule) => schedule[name])), now, isStart]
      )
    },
    decide: (name, decide) =>
      background.transaction(async (transaction) => {
        const queries = joined(background, transaction)
        const [schedule] = await queries.query<StoredSchedule>(`SELECT ${json} FROM ${table} WHERE name = $1 FOR UPDATE SKIP LOCKED`, [
          name
        ])
        const decision = schedule && (await decide(schedule, transaction))
        if (decision === undefined) return
        const { nextAt, lastAt, lastJobId, endsRequest } = decision
        await queries.query(
          `UPDATE ${table} SET next_at = $2::double precision, last_at = coalesce($3::double precision, last_at),
            last_job_id = coalesce($4::uuid, last_job_id), requested_at = CASE WHEN $5::boolean THEN NULL ELSE requested_at END WHERE name = $1`,
          [name, nextAt, lastAt ?? null, lastJobId ?? null, endsRequest]
        )
      }),
    async change(name, change) {
      const [column, value] = 'isPaused' in change ? ['is_paused', change.isPaused] : ['requested_at', change.requestedAt]
      return (
        (await background.query(`UPDATE ${table} SET ${column} = $2 WHERE name = $1 RETURNING 'true' AS json`, [name, value])).length > 0
      )
    },
    async sweep(seenBefore) {
      await background.query(`DELETE FROM ${table} WHERE seen_at < $1::double precision`, [seenBefore])
    }
  }
}
