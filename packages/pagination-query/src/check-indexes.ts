import { type CheckedDatabase, withPlanner } from './indexes/planner.ts'
import type { CheckedCollection } from './indexes/probes.ts'
import { findShortages, type Shortage } from './indexes/shortages.ts'
import type { SqlSource } from './sql.ts'

export type { CheckedDatabase } from './indexes/planner.ts'
export type { CheckedCollection } from './indexes/probes.ts'

/** What a check of indexes can be told. */
export interface IndexCheckOptions {
  /**
   * What needs no index, with the reason: `sort.total`, `sort.status,-total`, `filter.discontinued`, `filter.total[eq]`. An
   * index on a field of two values often costs more with each write than it saves.
   * @default {}
   */
  readonly waive?: Readonly<Record<string, string>> | undefined
}

/** One thing to put right. */
export interface IndexFinding {
  /**
   * `missing`: no index serves it. `invalid`: one would, but its build failed. `refused`: one seems to, but the planner can't use
   * it. `impossible`: no index could, as the list is written. `waiver`: a waiver that waives nothing.
   */
  readonly kind: Shortage['kind'] | 'waiver'
  /** The names by which it can be waived, such as `sort.total` and `filter.status[eq]`. */
  readonly names: readonly string[]
  /** In words, for people. */
  readonly problem: string
  /** The statement that puts it right, when there is one. It can't run inside a transaction. */
  readonly statement: string | undefined
}

/** Lists of a collection that no index of the database serves (rule Q12). */
export class MissingIndexesError extends Error {
  readonly findings: readonly IndexFinding[]

  constructor(collection: string, findings: readonly IndexFinding[]) {
    const lines = findings.flatMap(({ problem, statement }) => [`- ${problem}`, ...(statement === undefined ? [] : [`    ${statement}`])])
    super([`Lists of "${collection}" need indexes that the database does not have:`, ...lines].join('\n'))
    this.name = 'MissingIndexesError'
    this.findings = findings
  }
}

/**
 * Fails with one {@link MissingIndexesError} unless the database has an index for each sort and each filter that a collection
 * declares: for a test, or for the start of a service. It reads the definitions of the indexes and asks the planner, in a
 * transaction that can't write; no list runs, and it makes no difference whether the tables have rows.
 */
export async function checkIndexes(
  database: CheckedDatabase,
  collection: CheckedCollection,
  source: SqlSource = {},
  options?: IndexCheckOptions
): Promise<void> {
  const findings = await findMissingIndexes(database, collection, source, options)
  if (findings.length > 0) throw new MissingIndexesError(collection.name, findings)
}

/** What {@link checkIndexes} would fail with, as data. */
export async function findMissingIndexes(
  database: CheckedDatabase,
  collection: CheckedCollection,
  source: SqlSource = {},
  options: IndexCheckOptions = {}
): Promise<IndexFinding[]> {
  const waive = new Map(Object.entries(options.waive ?? {}))
  for (const [name, reason] of waive) {
    if (typeof reason !== 'string' || reason.trim() === '')
      throw new TypeError(`The waiver "${name}" has no reason. Say why it needs no index.`)
  }
  const used = new Set<string>()
  const shortages = await withPlanner(database, source, (planner) =>
    findShortages(planner, collection, ({ name }) => {
      const waivers = [name, name.replace(/\[.*/, '')].filter((one) => waive.has(one))
      for (const waiver of waivers) used.add(waiver)
      return waivers.length > 0
    })
  )
  return [...shortages.map(findingOf), ...[...waive.keys()].filter((name) => !used.has(name)).map(needlessWaiver)]
}

function findingOf({ kind, probes, reason, statement }: Shortage): IndexFinding {
  const asked = [...new Set(probes.map((probe) => probe.asked))]
  return { kind, names: [...new Set(probes.map(({ name }) => name))], problem: `${asked.join(', ')}: ${reason}`, statement }
}

function needlessWaiver(name: string): IndexFinding {
  return { kind: 'waiver', names: [name], problem: `The waiver "${name}" waives nothing. Take it away.`, statement: undefined }
}
