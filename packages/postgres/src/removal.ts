import { callback, describeOptions, type OptionsOf } from '@concordat/plugin-kit/options'
import { sweepRegularly } from '@concordat/plugin-kit/sweep'
import { contribute } from '@concordat/plugin-kit/wiring'
import type { FastifyInstance } from 'fastify'
import { type Postgres, storedValues } from './connections/postgres.ts'
import { tenantStatements } from './connections/tenant.ts'
import { retention, retentionStatement } from './sweep.ts'

/** Where the deleted rows of a table are, and how long they stay. */
export interface Deletion {
  readonly collection: string
  readonly from: string
  readonly column: string
  readonly keepDays: number | undefined
}

/** A table whose rows may be deleted so that they can be restored. */
export interface DeletableTable {
  /** Where deleted rows are; undefined without `deleted` in the collection. */
  readonly deletion: Deletion | undefined
}

/** The description of {@link RemovalOptions}. @readme */
export const removalOptions = describeOptions('postgres', {
  /** Returns all tenants, where policies limit the service to the rows of one: the rows of each are removed in a transaction of their own. */
  tenants: callback<() => Promise<Iterable<string>> | Iterable<string>>('returns the tenants')
})

/** Options of {@link removeDeleted}. */
export interface RemovalOptions extends OptionsOf<typeof removalOptions> {}

const dayMs = 86_400_000

/**
 * Removes the rows of a table that were deleted more than `deleted.keepDays` ago, each minute while the service runs: 1,000 in a statement, those that
 * were deleted first, without locked ones, and in one process at a time. The column needs an index, which `checkIndexes` checks. Rows that others
 * reference without ON DELETE CASCADE stay, and the log has the error. The start fails if policies hide the rows and no `tenants` are given.
 *
 * @throws TypeError for a table without `deleted.keepDays`
 * @example removeDeleted(app, database.postgres, patientTable)
 */
export function removeDeleted(app: FastifyInstance, database: Postgres, table: DeletableTable, options: RemovalOptions = {}): void {
  const { tenants } = removalOptions.read(options)
  const { collection, from, column, keepDays } = table.deletion ?? {}
  if (collection === undefined || from === undefined || column === undefined || keepDays === undefined)
    throw new TypeError(
      `postgres: removeDeleted was called with ${collection === undefined ? 'a table' : `the table "${collection}"`} without deleted.keepDays. Set it in the collection.`
    )
  const { tenantSetting, background } = database
  if (tenants !== undefined && tenantSetting === undefined)
    throw new TypeError('postgres: removeDeleted has tenants, and its database has none. Set tenantSetting where the database is opened.')
  const remove = retention(database, from, column, 'timestamptz')
  const removeOne = retentionStatement(from, column, 'timestamptz')
  contribute(app, 'retention', collection)

  app.addHook('onReady', async () => {
    if (tenants === undefined && (await isHidden(database, from)))
      throw new TypeError(
        `postgres: policies hide the rows of "${collection}" from removeDeleted, so that it would remove none. Add the option tenants, a function that returns all tenants.`
      )
  })
  sweepRegularly(app, `postgres: rows of "${collection}" beyond deleted.keepDays were not deleted`, async (maxRows) => {
    const before = new Date(Date.now() - keepDays * dayMs).toISOString()
    if (tenants === undefined) return remove(before, maxRows)
    const failures: unknown[] = []
    for (const tenant of await tenants()) {
      try {
        while ((await removeOf(tenant, [before, maxRows])) === maxRows);
      } catch (error) {
        // What another table still needs in one tenant must not keep the rows of the others.
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
    return 0
  })

  async function removeOf(tenant: string, values: readonly unknown[]) {
    const [setting] = tenantStatements(tenantSetting, tenant)
    const [count] = await background.transaction(async (transaction) => {
      await transaction.query(setting as string)
      return storedValues<number>(transaction.query(removeOne, values))
    })
    return count
  }
}

/** Returns whether the role of the service sees only the rows of one tenant. A table that does not exist yet has no policies. */
async function isHidden(database: Postgres, table: string) {
  const [isActive] = await database.query<boolean>('SELECT row_security_active(to_regclass($1)::oid)::text AS json', [table])
  return isActive === true
}
