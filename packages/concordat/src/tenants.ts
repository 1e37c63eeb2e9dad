import type * as Tenants from '@concordat/postgres/tenants'
import { printable, Refusal } from 'create-concordat'
import type { Report } from './documents.ts'
import { projectDatabase, projectModule, reasonOf } from './project-database.ts'

/** What the flags of the command say. */
export interface TenantFlags {
  readonly setting: string
  readonly column: string
  readonly schema: readonly string[]
  readonly shared: readonly string[]
  readonly waive: readonly string[]
}

/**
 * Checks that the database of `DATABASE_URL` or `DATA_DIR` keeps tenants apart, as the role of the service that the URL names. Returns the findings, one a
 * line. Throws a `Refusal` without a database.
 */
export async function tenants({ setting, column, schema, shared, waive }: TenantFlags, env = process.env): Promise<Report> {
  const reasons = Object.fromEntries(waive.map(readWaiver))
  const database = await projectDatabase('in which the service stores the rows of its tenants', env, setting)
  try {
    const { checkTenants } = await projectModule<typeof Tenants>('tenants')
    await checkTenants(database.postgres, { column, schemas: schema, shared, waive: reasons })
    return { text: `Tenants are kept apart in ${schema.join(', ')}.`, isWrong: false }
  } catch (error) {
    const { name, message } = error as Error
    const lines = message.split('\n').map((line) => printable(line))
    if (name === 'TenantIsolationError') return { text: lines.join('\n'), isWrong: true }
    throw error instanceof Refusal ? error : new Refusal(`The tables cannot be checked: ${reasonOf(error)}`)
  } finally {
    await database.close()
  }
}

function readWaiver(text: string): readonly [string, string] {
  const [, name, reason] = /^([^=]+)=(.*\S.*)$/.exec(text) ?? []
  if (name !== undefined && reason !== undefined) return [name, reason]
  throw new Refusal(`--waive ${text} requires a reason. Use the form <name>=<reason>, for example visits_pkey=random ids.`)
}
