import type { ListQuery, Page } from '@concordat/pagination-query'
import { runSql } from '@concordat/pagination-query/sql'
import type { Statements } from '@concordat/postgres/rows'
import type { OrderExport } from './schemas.ts'

/** Stores the owner of an export, in the transaction in which its job was accepted. */
export async function createExport(transaction: Statements, id: string, owner: string): Promise<void> {
  await transaction.query('INSERT INTO order_exports (id, owner) VALUES ($1, $2)', [id, owner])
}

/** An export as the database has it, with what its links depend on. */
export type ListedExport = Omit<OrderExport, '_links'> & { readonly result: unknown }

/** Lists the exports of one caller that have not expired. */
export function listExports(database: Statements, query: ListQuery<OrderExport>, owner: string): Promise<Page<ListedExport>> {
  const exports = { ...query, fields: ['jobId', 'status', 'createdAt', 'result'] } as unknown as ListQuery<ListedExport>
  return runSql(database.client, exports, {
    table: { sql: 'order_exports JOIN concordat.jobs USING (id)' },
    columns: {
      jobId: 'id',
      status: { sql: 'jobs.state' },
      createdAt: { sql: 'order_exports.created_at' },
      result: { sql: 'jobs.result' }
    },
    where: {
      text: 'order_exports.owner = $1 AND (expires_at IS NULL OR expires_at > extract(epoch FROM now()) * 1000)',
      values: [owner]
    }
  })
}
