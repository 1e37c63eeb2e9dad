import { describeOptions, type OptionsOf, value } from '@concordat/plugin-kit/options'
import type { Postgres } from '../connections/postgres.ts'
import { findBypasses } from './bypasses.ts'
import { withCatalog } from './catalog.ts'
import type { TenantFinding } from './finding.ts'
import { findKeys } from './keys.ts'
import { findPolicies } from './policies.ts'
import { findSlowIndexes } from './slow-indexes.ts'
import { findTables } from './tables.ts'
import { findViews } from './views.ts'

export type { TenantFinding } from './finding.ts'

/** The description of {@link TenantCheckOptions}. @readme */
export const tenantCheckOptions = describeOptions('postgres', {
  /** The column that contains the tenant in each table that has one. */
  column: value<string>({ default: 'tenant' }),
  /** The schemas to check. That of the suite's own tables has no policies. */
  schemas: value<readonly string[]>({ default: ['public'] }),
  /** The tables without a tenant, whose rows all tenants may see. */
  shared: value<readonly string[]>({ default: [] }),
  /** The findings to leave out, by the name of the table, view, function, policy, key or index, each with the reason. */
  waive: value<Readonly<Record<string, string>>>({ default: {} })
})

/** Options of {@link checkTenants}. */
export interface TenantCheckOptions extends OptionsOf<typeof tenantCheckOptions> {}

/** The error of {@link checkTenants}. */
export class TenantIsolationError extends Error {
  readonly findings: readonly TenantFinding[]

  constructor(findings: readonly TenantFinding[]) {
    super(['postgres: the database does not keep tenants apart:', ...findings.map(lineOf)].join('\n'))
    this.name = 'TenantIsolationError'
    this.findings = findings
  }
}

/**
 * Checks that policies limit what the role of the service can read and write to the rows of one tenant, that keys do not cross tenants, and that indexes
 * serve under policies: in a test, when a service starts, or with `npx concordat tenants check`. The connections of the database must have the role of
 * the service; the rows do not matter. Throws a {@link TenantIsolationError} with all findings, and a `TypeError` for a database without `tenantSetting`.
 */
export async function checkTenants(database: Postgres, options: TenantCheckOptions = {}): Promise<void> {
  const { column, schemas, shared, waive } = tenantCheckOptions.read(options)
  const { tenantSetting: setting } = database
  if (setting === undefined)
    throw new TypeError(
      'postgres: checkTenants needs the setting in which policies find the tenant. Set tenantSetting where the database is opened.'
    )
  if (!/^[a-z_][a-z0-9_]*$/.test(column))
    throw new TypeError(`postgres: options.column "${column}" must consist of lowercase letters, digits and _, for example "tenant".`)
  for (const [name, reason] of Object.entries(waive)) {
    if (typeof reason !== 'string' || reason.trim() === '')
      throw new TypeError(
        `postgres: options.waive["${name}"] must have a reason. State why tenants stay apart, or why the index is needed.`
      )
  }
  const finders = [findBypasses, findTables, findPolicies, findViews, findKeys, findSlowIndexes]
  const found = await withCatalog(database, { column, schemas, shared, setting }, async (catalog) => {
    const all: TenantFinding[] = []
    for (const find of finders) all.push(...(await find(catalog)))
    return all
  })
  const needless = Object.keys(waive).filter((name) => !found.some((finding) => finding.name === name))
  const findings = [...found.filter(({ name }) => !Object.hasOwn(waive, name)), ...needless.map(needlessWaiver)]
  if (findings.length > 0) throw new TenantIsolationError(findings)
}

function lineOf({ problem, remedy }: TenantFinding) {
  return `- ${problem} ${remedy}`
}

function needlessWaiver(name: string): TenantFinding {
  return { name, problem: `The waiver "${name}" has no effect.`, remedy: 'Remove it.' }
}
