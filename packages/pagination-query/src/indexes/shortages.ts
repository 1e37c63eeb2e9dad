import type { SqlText } from '../declaration/sql-source.ts'
import { type Demand, demandOf, serves } from './fit.ts'
import type { Planner } from './planner.ts'
import { isLeaky, leakyColumns } from './policies.ts'
import type { Probe, Probes } from './probes.ts'
import { rebuildIndex, type Suggestion, suggestIndex, uniqueIndex } from './statement.ts'
import { readTable, type Table } from './table-indexes.ts'
import { conjunctsOf, nodesOf, type PlanNode, scansOf, type TableScan } from './table-scan.ts'

/** A problem with the indexes, and the probes that it affects. */
export interface Shortage {
  readonly kind: 'missing' | 'invalid' | 'refused' | 'impossible' | 'unique'
  readonly probes: readonly Probe[]
  readonly reason: string
  readonly statement: string | undefined
}

/** The table of a collection, with the names of its partitions, and the conditions that apply to every list. */
interface Subject {
  readonly table: Table
  readonly tables: ReadonlySet<string>
  readonly base: readonly string[]
  /** The condition of the rows that are not deleted, if deleted rows stay in the table. */
  readonly alive: string | undefined
  readonly isOf: (scan: TableScan) => boolean
  /** Under policies, the columns whose operators use no index because they are not leakproof; undefined without policies. */
  readonly leaky: ReadonlySet<string> | undefined
}

/** A statement of a probe, with the demand of each scan of the table. */
interface Requested {
  readonly statement: SqlText
  readonly demands: readonly Demand[]
}

type Judgement = Omit<Shortage, 'probes'> & { readonly demands: readonly Demand[]; readonly suggestion: Suggestion | undefined }

const notOfOneTable = {
  table: 'the sort keys belong to several tables',
  query: 'the sort keys belong to a query that PostgreSQL computes first. Remove its ORDER BY, LIMIT, DISTINCT, GROUP BY, UNION or WITH'
}

/** Returns the sorts and filters that no usable index serves. If an index would serve several probes, its statement is returned once. */
export async function findShortages(
  planner: Planner,
  { name, plain, probes, isDeletionKept, id }: Probes,
  isWaived: (probe: Probe) => boolean
): Promise<Shortage[]> {
  const subject = await subjectOf(planner, name, plain, isDeletionKept)
  const shortages: (Shortage & { readonly suggestion: Suggestion | undefined })[] = []
  for (const probe of probes) {
    const judged = await judge(planner, subject, probe)
    if (judged === undefined || isWaived(probe)) continue
    const { demands, ...shortage } = judged
    const known = shortages.findIndex(
      ({ suggestion }) => suggestion !== undefined && demands.every((demand) => serves(suggestion.index, demand))
    )
    const same = shortages[known]
    if (same === undefined || shortage.kind !== 'missing') shortages.push({ ...shortage, probes: [probe] })
    else shortages[known] = { ...same, probes: [...same.probes, probe] }
  }
  return [...shortages, ...crowdedIndexes(subject, id, plain).filter(({ probes: [probe] }) => !isWaived(probe as Probe))]
}

// A unique index with deleted rows keeps their values taken. One with the identifier only serves foreign keys, which need all rows.
function crowdedIndexes({ table, alive }: Subject, id: string, plain: SqlText): Shortage[] {
  if (alive === undefined) return []
  return table.indexes
    .filter(
      ({ unique, columns, predicate }) => unique && columns.every(({ expression }) => expression !== id) && !predicate.includes(alive)
    )
    .map((index) => ({
      kind: 'unique',
      probes: [{ name: `unique.${index.name}`, requested: `the unique index ${index.name}`, ordered: false, first: plain, next: [] }],
      reason: 'it has the values of deleted rows too, so that they stay taken. Create another one, and drop it',
      statement: uniqueIndex(table, index, alive)
    }))
}

async function subjectOf(planner: Planner, collection: string, plain: SqlText, isDeletionKept: boolean): Promise<Subject> {
  const scans = scansOf(await planner.plan(plain, 'withoutIndexes'))
  const scan = scans.find(({ sorted }) => sorted) ?? scans[0]
  if (scan === undefined)
    throw new TypeError(
      `pagination-query: the collection "${collection}" does not read a table, so it has no indexes to check. Leave it out of the check.`
    )
  const table = await readTable(planner, scan.schema, scan.table)
  const tables = new Set([scan.table])
  for (const other of scans) {
    if (other.schema === scan.schema && other.table === scan.table) continue
    if ((await readTable(planner, other.schema, other.table)).name === table.name) tables.add(other.table)
  }
  return {
    table,
    tables,
    base: scans.flatMap(({ conjuncts }) => conjuncts.map(({ text }) => text)),
    alive: isDeletionKept ? scan.conjuncts.findLast(({ kind }) => kind === 'null')?.text : undefined,
    isOf: (one) => one.schema === scan.schema && tables.has(one.table),
    leaky: await leakyColumns(planner, table.name)
  }
}

async function judge(planner: Planner, subject: Subject, probe: Probe): Promise<Judgement | undefined> {
  const { table, base, alive } = subject
  const all = scansOf(await planner.plan(probe.first, 'withoutIndexes'))
  const first = all.filter(subject.isOf)
  const filter = newTexts(first, base)
  if (filter.length < newTexts(all, base).length) return impossible('the condition is on another table')
  const leaky = first.flatMap(({ conjuncts }) => conjuncts).find((one) => filter.includes(one.text) && isLeaky(one, subject.leaky))
  if (leaky !== undefined)
    return impossible(
      `under a policy, no index applies ${leaky.text}, whose operator is not leakproof. Read a view of the owner, or waive "${probe.name}" if a tenant has few rows`
    )
  const requested: Requested[] = []
  for (const statement of [probe.first, ...probe.next]) {
    const scans = statement === probe.first ? first : scansOf(await planner.plan(statement, 'withoutIndexes')).filter(subject.isOf)
    const elsewhere = scans.flatMap(({ ordersElsewhere }) => ordersElsewhere ?? [])
    if (elsewhere[0] !== undefined) return impossible(notOfOneTable[elsewhere[0]])
    requested.push({ statement, demands: scans.map((scan) => demandOf(scan, table, base, filter, probe.ordered)) })
  }
  const demands = requested.flatMap((one) => one.demands)
  if (textsOf(demands).some((expression) => table.columns.get(expression)?.foldsCase === false))
    return impossible(
      'its collation knows only the letters of ASCII, as "C" does, or is nondeterministic. Change it, for example to "default" in a database with the locale C.UTF-8'
    )
  const unserved = demands.filter((demand) => !table.indexes.some((index) => serves(index, demand)))
  if (unserved.length === 0) return objection(planner, subject, probe, requested)

  const broken = table.indexes.find((index) => !index.valid && demands.every((demand) => serves({ ...index, valid: true }, demand)))
  if (broken && !table.partitioned) {
    const reason = `${broken.name} would serve it, but its build failed`
    return { kind: 'invalid', reason, statement: rebuildIndex(table, broken.name), demands, suggestion: undefined }
  }
  const suggestion = suggestIndex(table, demands[0] as Demand, alive)
  if (suggestion === undefined || !demands.every((demand) => serves(suggestion.index, demand)))
    return impossible('no index supports the comparisons in the statement')
  const reason =
    textsOf(demands).length > 0 ? 'no index of trigrams serves it, for which the extension pg_trgm is needed' : 'no index serves it'
  return { kind: 'missing', reason, statement: suggestion.statement, demands, suggestion }
}

/** Returns the expressions in which texts are searched. */
function textsOf(demands: readonly Demand[]) {
  return demands.flatMap(({ filter }) => filter.flatMap(({ kind, expressions }) => (kind === 'contains' ? expressions : [])))
}

function newTexts(scans: readonly TableScan[], base: readonly string[]) {
  return scans.flatMap(({ conjuncts }) => conjuncts.map(({ text }) => text)).filter((text) => !base.includes(text))
}

async function objection(
  planner: Planner,
  { table, tables }: Subject,
  { ordered }: Probe,
  requested: readonly Requested[]
): Promise<Judgement | undefined> {
  for (const { statement, demands } of requested) {
    if (demands.length === 0) continue
    const plan = await planner.plan(statement, ordered ? 'inOrder' : textsOf(demands).length > 0 ? 'byTrigrams' : 'byIndex')
    for (const demand of demands) {
      const serving = new Set(table.indexes.filter((index) => serves(index, demand)).map(({ name }) => name))
      const reason = objectionOf(plan, demand, tables, serving)
      if (reason !== undefined) return { kind: 'refused', reason, statement: undefined, demands, suggestion: undefined }
    }
  }
  return undefined
}

function impossible(reason: string): Judgement {
  return { kind: 'impossible', reason, statement: undefined, demands: [], suggestion: undefined }
}

// Returns why a plan does not use the indexes that appear to serve a statement, for what their definitions do not show, such as the collation of a
// comparison. A plan that uses another index proves nothing: on a table without rows, all indexes cost the same.
function objectionOf(plan: PlanNode, demand: Demand, tables: ReadonlySet<string>, serving: ReadonlySet<string>): string | undefined {
  const nodes = [...nodesOf(plan)].map(({ node }) => node)
  const reads = (node: PlanNode) => node['Relation Name'] !== undefined && tables.has(node['Relation Name'])
  if (nodes.some((node) => node['Node Type'] === 'Seq Scan' && reads(node))) return 'the planner reads the whole table anyway'
  if (demand.order !== undefined && nodes.some(sortsEverything)) return 'the planner sorts anyway'
  // Other scans are disabled for a plan by trigrams.
  if (textsOf([demand]).length > 0 && nodes.some((node) => node['Node Type'] !== 'Bitmap Heap Scan' && reads(node)))
    return 'the planner cannot use its index, for example because a policy of the table allows only leakproof operators'
  for (const node of nodes.filter(reads)) {
    const index = node['Index Name'] ?? node.Plans?.[0]?.['Index Name']
    if (index === undefined || !serving.has(index)) continue
    const left = conjunctsOf(node.Filter ?? '', node.Alias).map(({ text }) => text)
    const sought = node['Index Cond'] ?? ''
    const skipped = lookedUp(demand).find(({ text, expressions: [first = ''] }) => left.includes(text) && !sought.includes(first))
    if (skipped !== undefined) return `the planner cannot look up ${skipped.text} in "${index}"`
  }
  return undefined
}

// The parts of a union are limited and then sorted again, which affects few rows.
function sortsEverything(node: PlanNode) {
  return node['Node Type'] === 'Sort' && ![...nodesOf(node)].some(({ node }) => node['Node Type'] === 'Limit')
}

// The planner filters the rows that the index finds for a prefix by the prefix again, so a prefix is not checked here.
function lookedUp({ base, filter, cursor }: Demand) {
  return [...base.filter(({ kind }) => kind === 'equal'), ...filter.filter(({ kind }) => kind !== 'prefix'), ...cursor]
}
