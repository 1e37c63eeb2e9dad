import { isTenant } from '@concordat/plugin-kit/wiring'
import { transactionRequired } from './errors.ts'
import { handlerContexts } from './handler-context.ts'
import { type Postgres, runIn, type SqlClient } from './postgres.ts'

const settingForm = /^[a-z_][a-z0-9_]*\.[a-z_][a-z0-9_]*$/

/** Returns the setting that contains the tenant. Throws a `TypeError` for a name that would need quotes in SQL. */
export function requireTenantSetting(setting: string | undefined): string | undefined {
  if (setting === undefined || settingForm.test(setting)) return setting
  throw new TypeError(
    `postgres: options.tenantSetting "${setting}" must be two names of lowercase letters, digits and _ with a dot between them, for example "app.tenant".`
  )
}

/** Returns the tenant, which can be in a literal. Throws a `TypeError` for a value that is not one. */
function requireTenant(tenant: unknown): string {
  if (isTenant(tenant)) return tenant
  throw new TypeError(
    `postgres: the tenant must have 1 to 64 letters, digits, _ and -, but is ${JSON.stringify(tenant)?.slice(0, 80)}. Pass the tenant that was stored with the work.`
  )
}

/** Returns the statement that sets the tenant until the end of the transaction. In a message with BEGIN it is before every savepoint. */
export function tenantStatements(setting: string | undefined, tenant: string | undefined): readonly string[] {
  return setting === undefined || tenant === undefined ? [] : [`SET LOCAL ${setting} = '${requireTenant(tenant)}'`]
}

/** A role that policies do not bind. */
export interface UnboundRole {
  readonly name: string
  readonly isSuperuser: boolean
}

/** Returns the current role, as JSON, if policies do not bind it. */
export const unboundRole = `SELECT json_build_object('name', rolname, 'isSuperuser', rolsuper) FROM pg_roles WHERE rolname = current_user AND (rolsuper OR rolbypassrls)`

/** Throws a `TypeError` when the role of the connections is not bound by the policies that find the tenant in the setting of the database. */
export async function requireBoundRole(database: Postgres): Promise<void> {
  if (database.tenantSetting === undefined) return
  const [role] = await database.query<UnboundRole>(`SELECT role::text AS json FROM (${unboundRole}) AS roles (role)`)
  if (role === undefined) return
  const remedy = database.isEmbedded
    ? 'Open PGlite with openDatabase, or run SET ROLE with an ordinary role before fromPGlite.'
    : 'Connect as an ordinary role.'
  throw new TypeError(
    `postgres: policies do not bind the role "${role.name}", so that requests would see the rows of all tenants. ${remedy}`
  )
}

/** Returns the tenant of the request whose handler calls this, directly or indirectly. */
export function currentTenant(): string | undefined {
  return handlerContexts.getStore()?.tenant
}

/** Throws `TRANSACTION_REQUIRED` when the handler of a request with a tenant queries the database without it: it would see no rows. */
export function requireNoTenant({ tenantSetting }: Postgres): void {
  if (tenantSetting !== undefined && currentTenant() !== undefined)
    throw transactionRequired(
      'This handler queried the database without the tenant of its request. Use request.reads or request.transaction, or asTenant for another tenant.'
    )
}

/** Runs the work in a transaction with a tenant. */
export async function runAsTenant<Result>(
  database: Postgres,
  tenant: string,
  work: (transaction: SqlClient) => Promise<Result>
): Promise<Result> {
  if (database.tenantSetting === undefined)
    throw new TypeError(
      'postgres: asTenant needs the setting in which policies find the tenant. Set tenantSetting where the database is opened, for example to "app.tenant".'
    )
  return runIn(database.open({ tenant: requireTenant(tenant) }), work)
}
