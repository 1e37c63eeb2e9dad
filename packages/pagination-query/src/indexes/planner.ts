import type { SqlText } from '../declaration/sql-source.ts'
import type { Queryable } from './table-indexes.ts'
import type { PlanNode } from './table-scan.ts'

/** A `pg` pool, a `pg` client that is not in a transaction, or PGlite. */
export type CheckedDatabase = PoolLike | ClientLike | PGliteLike

interface ClientLike extends Queryable {
  readonly connect: () => Promise<unknown>
}
interface PoolLike {
  readonly totalCount: number
  readonly connect: () => Promise<Queryable & { release: () => void }>
}
interface PGliteLike {
  readonly transaction: <Result>(work: (transaction: Queryable) => Promise<Result>) => Promise<Result>
}

const ways = ['enable_seqscan', 'enable_indexscan', 'enable_indexonlyscan', 'enable_bitmapscan', 'enable_sort']

type Purpose = 'withoutIndexes' | 'inOrder' | 'byIndex' | 'byTrigrams'

// The planner uses a disabled scan only if it has no other. `withoutIndexes` shows the demand: a scan of each table with all its conditions, and the
// order above it. `inOrder` shows whether an index gives the order, `byIndex` whether an index finds the rows, `byTrigrams` whether one does that has no order.
const disabled: Readonly<Record<Purpose, readonly string[]>> = {
  withoutIndexes: ['enable_indexscan', 'enable_indexonlyscan', 'enable_bitmapscan'],
  inOrder: ['enable_seqscan', 'enable_bitmapscan', 'enable_sort'],
  byIndex: ['enable_seqscan'],
  byTrigrams: ['enable_seqscan', 'enable_indexscan', 'enable_indexonlyscan']
}

const always = {
  enable_tidscan: 'off',
  enable_mergejoin: 'off',
  enable_partition_pruning: 'off',
  max_parallel_workers_per_gather: '0',
  plan_cache_mode: 'force_custom_plan',
  statement_timeout: '10s'
}

/** The planner of the database. */
export interface Planner extends Queryable {
  plan(statement: SqlText, purpose: Purpose): Promise<PlanNode>
}

/** Runs `work` in a read-only transaction with changed planner settings, and ends the transaction. */
export async function withPlanner<Result>(database: CheckedDatabase, work: (planner: Planner) => Promise<Result>): Promise<Result> {
  if ('transaction' in database) {
    return database.transaction(async (transaction) => {
      await transaction.query('SET TRANSACTION READ ONLY')
      return work(plannerOn(transaction))
    })
  }
  if (!('totalCount' in database)) return inTransaction(database, work)
  const client = await database.connect()
  try {
    return await inTransaction(client, work)
  } finally {
    client.release()
  }
}

async function inTransaction<Result>(client: Queryable, work: (planner: Planner) => Promise<Result>) {
  // Outside a transaction, both are the time of this statement. Ending a transaction of the caller would undo its work.
  const { rows } = await client.query('SELECT now() = statement_timestamp() AS alone')
  if (!(rows as { alone: boolean }[])[0]?.alone)
    throw new TypeError('pagination-query: the client is in a transaction. Pass a client that is not in a transaction, or a pool.')
  await client.query('BEGIN READ ONLY')
  try {
    return await work(plannerOn(client))
  } finally {
    await client.query('ROLLBACK')
  }
}

// An invalid text for a type, and operators or types that do not exist or do not match.
const misdeclared = new Set(['22P02', '42804', '42883'])

function refuseStatement(error: Error & { readonly code?: string | undefined }): never {
  if (!misdeclared.has(error.code ?? '')) throw error
  throw new TypeError(
    `pagination-query: the columns do not have the types that the schema declares: ${error.message}. Declare a UUID with the format "uuid", an enum with its values, and each other field as its column.`,
    { cause: error }
  )
}

function plannerOn(client: Queryable): Planner {
  let current: Purpose | undefined
  return {
    query: (text, values) => client.query(text, values),
    async plan({ text, values }, purpose) {
      if (purpose !== current) {
        const off = disabled[purpose]
        const settings = Object.entries({ ...always, ...Object.fromEntries(ways.map((way) => [way, off.includes(way) ? 'off' : 'on'])) })
        await client.query(`SELECT ${settings.map(([name, value]) => `set_config('${name}', '${value}', true)`).join(', ')}`)
        current = purpose
      }
      const { rows } = await client.query(`EXPLAIN (FORMAT JSON, VERBOSE) ${text}`, [...values]).catch(refuseStatement)
      const plans = (rows as { 'QUERY PLAN': string | { Plan: PlanNode }[] }[])[0]?.['QUERY PLAN'] ?? []
      const [root] = typeof plans === 'string' ? (JSON.parse(plans) as { Plan: PlanNode }[]) : plans
      if (root === undefined) throw new Error('pagination-query: the database returned no query plan. Pass a client of PostgreSQL.')
      return root.Plan
    }
  }
}
