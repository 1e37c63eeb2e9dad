import { describeOptions, type OptionsOf, value } from '@concordat/plugin-kit/options'
import { requireOutside } from './handler-context.ts'
import { textOf } from './message.ts'
import { fieldsOf, openOnPGlite, type PGliteLike, turnOfOthers } from './pglite-session.ts'
import { available, type Postgres, runIn, type SqlClient, storedValues } from './postgres.ts'
import { currentTenant, requireNoTenant, requireTenantSetting, runAsTenant, tenantStatements } from './tenant.ts'

/** The description of {@link PGliteDatabaseOptions}. */
const pgliteOptions = describeOptions('postgres', {
  /** The setting in which policies find the tenant, such as `app.tenant`. Policies bind PGlite after `SET ROLE` to an ordinary role. */
  tenantSetting: value<string>()
})

/** Options of {@link fromPGlite}. */
export interface PGliteDatabaseOptions extends OptionsOf<typeof pgliteOptions> {}

/**
 * Creates a `Postgres` from a PGlite, which is PostgreSQL inside this process. While a transaction is open, all other statements wait; one of the
 * handler of that transaction throws `TRANSACTION_REQUIRED`.
 */
export function fromPGlite(database: PGliteLike, options: PGliteDatabaseOptions = {}): Postgres {
  const tenantSetting = requireTenantSetting(pgliteOptions.read(options).tenantSetting)

  async function enter() {
    requireOutside(self)
    await turnOfOthers()
  }

  async function query(sql: string, params: readonly unknown[] = []) {
    await enter()
    return database.query(sql, [...params])
  }

  async function run(text: string, values?: readonly unknown[]) {
    const { rows, affectedRows } = await query(text, values)
    return { rows, rowCount: rows.length || (affectedRows ?? 0) }
  }

  const self: Postgres = {
    isEmbedded: true,
    tenantSetting,
    query: (sql, params) => storedValues(query(sql, params)),
    async fields(statement) {
      await enter()
      const [rows = []] = await available(fieldsOf(database, textOf([statement])))
      return rows
    },
    transaction: (work) => runIn(self.open({}), work),
    async open(opening) {
      await enter()
      return openOnPGlite(database, opening, tenantStatements(tenantSetting, opening.tenant ?? currentTenant()))
    },
    asTenant: (tenant, work) => runAsTenant(self, tenant, work),
    reads: (tenant) =>
      ({
        query: (text: string, values: readonly unknown[] = []) =>
          available(
            tenant === undefined || tenantSetting === undefined
              ? run(text, values)
              : runIn(self.open({ readOnly: true, tenant }), (transaction) => transaction.query(text, values))
          )
      }) as SqlClient,
    client: {
      async query(text, values) {
        requireNoTenant(self)
        return run(text, values)
      }
    } as SqlClient,
    async listen(channel, { onMessage }) {
      requireOutside(self)
      const end = await database.listen(channel, onMessage)
      return () => end()
    },
    // Its statements run in this process, so that the delay of the event loop includes the wait.
    isCongested: () => false,
    get background() {
      return self
    }
  }
  return self
}
