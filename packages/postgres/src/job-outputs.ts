import type { JobStore } from '@concordat/jobs'
import type { Postgres } from './connections/postgres.ts'

/** Creates the part of the store for the output that jobs write piece by piece. */
export function jobOutputs(database: Postgres, schema: string): Pick<JobStore, 'append' | 'readPiece'> {
  const [table, outputs] = [`${schema}.jobs`, `${schema}.job_outputs`]

  return {
    async append(id, attempt, number, piece) {
      // The lock of the job makes a change of its state wait, which then finds the piece.
      const appended = await database.query(
        `INSERT INTO ${outputs} (job_id, number, piece) SELECT id, $3, $4 FROM ${table} WHERE id = $1::uuid AND attempt = $2 AND state = 'processing' FOR SHARE
        ON CONFLICT (job_id, number) DO UPDATE SET piece = excluded.piece RETURNING 'true' AS json`,
        [id, attempt, number, piece]
      )
      return appended.length > 0
    },
    async readPiece(id, number) {
      return (
        await database.query<string>(`SELECT to_json(piece)::text AS json FROM ${outputs} WHERE job_id = $1::uuid AND number = $2`, [
          id,
          number
        ])
      )[0]
    }
  }
}
