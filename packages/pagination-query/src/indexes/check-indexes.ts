import { describeOptions, type OptionsOf, value } from '@concordat/plugin-kit/options'
import type { Collection } from '../collection.ts'
import type { SqlSource } from '../declaration/sql-source.ts'
import { type CheckedDatabase, withPlanner } from './planner.ts'
import { isUnderPolicies } from './policies.ts'
import { type Probe, probesOf } from './probes.ts'
import { findShortages, type Shortage } from './shortages.ts'

/** The description of {@link IndexCheckOptions}. */
const indexCheckOptions = describeOptions('pagination-query', {
  /**
   * The sorts, filters and relations that need no index, by name, each with the reason: `sort.total`, `sort.status,-total`, `filter.discontinued`,
   * `filter.total[eq]`, `relations.items`. An index on a field with two values often costs more on each write than it saves.
   */
  waive: value<Readonly<Record<string, string>>>({ default: {} }),
  /** What the `source` of each relation that has one returns for a client, by the name of the relation. */
  relatedSources: value<Readonly<Record<string, SqlSource>>>({
    names: {
      '*': { table: { sql: true, values: true }, columns: { '*': { sql: true, column: true } }, where: { text: true, values: true } }
    },
    default: {}
  })
})

/** Options of {@link checkIndexes}. */
interface IndexCheckOptions extends OptionsOf<typeof indexCheckOptions> {}

/** A problem that the check found. */
interface IndexFinding {
  /**
   * `missing`: no index serves the list. `invalid`: the build of its index failed. `refused`: the planner cannot use its index. `impossible`: no index
   * could serve the list. `waiver`: a waiver has no effect.
   */
  readonly kind: Shortage['kind'] | 'waiver'
  /** The names to list in `waive` to waive the finding, such as `sort.total` and `filter.status[eq]`. */
  readonly names: readonly string[]
  readonly problem: string
  /** The statement that fixes the problem, if there is one. It cannot run inside a transaction. */
  readonly statement: string | undefined
}

/** The error of {@link checkIndexes} (rule Q12). */
export class MissingIndexesError extends Error {
  readonly findings: readonly IndexFinding[]

  constructor(collection: string, findings: readonly IndexFinding[]) {
    const lines = findings.flatMap(({ problem, statement }) => [`- ${problem}`, ...(statement === undefined ? [] : [`    ${statement}`])])
    super([`pagination-query: the collection "${collection}" needs indexes that the database does not have:`, ...lines].join('\n'))
    this.name = 'MissingIndexesError'
    this.findings = findings
  }
}

/**
 * Checks that the database has an index for each sort, each filter and each relation that a collection declares, in a test or when a service starts. It
 * asks the planner in a read-only transaction, with the role of the client: under policies, fewer operators use an index. The rows in the tables do not
 * matter. Throws a {@link MissingIndexesError} with all findings.
 */
export async function checkIndexes(
  database: CheckedDatabase,
  collection: Collection,
  source: SqlSource = {},
  options: IndexCheckOptions = {}
): Promise<void> {
  const { waive: waivers, relatedSources } = indexCheckOptions.read(options)
  const waive = new Map(Object.entries(waivers))
  const probesWith = (hasTenant: boolean) => probesOf(collection, source, relatedSources, hasTenant)
  const [{ plain }] = probesWith(false)
  for (const [name, reason] of waive) {
    if (typeof reason !== 'string' || reason.trim() === '')
      throw new TypeError(`pagination-query: options.waive["${name}"] must have a reason. State why no index is needed.`)
  }
  const used = new Set<string>()
  const isWaived = ({ name }: Probe) => {
    const waivers = [name, name.replace(/\[.*/, '')].filter((one) => waive.has(one))
    for (const waiver of waivers) used.add(waiver)
    return waivers.length > 0
  }
  const shortages = await withPlanner(database, async (planner) => {
    const found: Shortage[] = []
    // As the role of the check, which should be that of the service, reads the table.
    for (const table of probesWith(await isUnderPolicies(planner, plain))) found.push(...(await findShortages(planner, table, isWaived)))
    return found
  })
  const findings = [...shortages.map(findingOf), ...[...waive.keys()].filter((name) => !used.has(name)).map(needlessWaiver)]
  if (findings.length > 0) throw new MissingIndexesError(collection.name, findings)
}

function findingOf({ kind, probes, reason, statement }: Shortage): IndexFinding {
  const requested = [...new Set(probes.map((probe) => probe.requested))]
  return { kind, names: [...new Set(probes.map(({ name }) => name))], problem: `${requested.join(', ')}: ${reason}`, statement }
}

function needlessWaiver(name: string): IndexFinding {
  return { kind: 'waiver', names: [name], problem: `The waiver "${name}" has no effect. Remove it.`, statement: undefined }
}
