import type { ListQuery } from '../list-query.ts'
import { type Demand, demandOf, serves } from './fit.ts'
import { objectionOf } from './plan-objection.ts'
import type { Planner } from './planner.ts'
import { type CheckedCollection, filterProbes, type Probe, plainQuery, sortProbes } from './probes.ts'
import { rebuildIndex, type Suggestion, suggestIndex } from './statement.ts'
import { readTable, type Table } from './table-indexes.ts'
import { scansOf, type TableScan } from './table-scan.ts'

/** A problem with the indexes, and the probes that it affects. */
export interface Shortage {
  readonly kind: 'missing' | 'invalid' | 'refused' | 'impossible'
  readonly probes: readonly Probe[]
  readonly reason: string
  readonly statement: string | undefined
}

/** The table of a collection, and the conditions that apply to every list. */
interface Subject {
  readonly table: Table
  /** The name of the table, or the names of its partitions. */
  readonly tables: ReadonlySet<string>
  readonly base: readonly string[]
  readonly isOf: (scan: TableScan) => boolean
}

type Judgement = Omit<Shortage, 'probes'> & { readonly demands: readonly Demand[]; readonly suggestion: Suggestion | undefined }

/** Returns the sorts and filters that no usable index serves. If an index would serve several probes, its statement is returned once. */
export async function findShortages(
  planner: Planner,
  collection: CheckedCollection,
  isWaived: (probe: Probe) => boolean
): Promise<Shortage[]> {
  const subject = await subjectOf(planner, collection)
  // Probes that need an order come first, because their indexes often serve other probes too.
  const filters = filterProbes(collection)
  const probes = [...sortProbes(collection), ...filters.filter(({ ordered }) => ordered), ...filters.filter(({ ordered }) => !ordered)]
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
  return shortages.map(({ kind, probes: concerned, reason, statement }) => ({ kind, probes: concerned, reason, statement }))
}

async function subjectOf(planner: Planner, collection: CheckedCollection): Promise<Subject> {
  const scans = scansOf(await planner.plan(plainQuery(collection), 'withoutIndexes'))
  const scan = scans.find(({ sorted }) => sorted) ?? scans[0]
  if (scan === undefined)
    throw new TypeError(
      `pagination-query: the collection "${collection.name}" does not read a table, so it has no indexes to check. Leave it out of the check.`
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
    isOf: (one) => one.schema === scan.schema && tables.has(one.table)
  }
}

async function judge(planner: Planner, subject: Subject, probe: Probe): Promise<Judgement | undefined> {
  const { table, base } = subject
  const all = scansOf(await planner.plan(probe.first, 'withoutIndexes'))
  const first = all.filter(subject.isOf)
  const filter = newTexts(first, base)
  if (filter.length < newTexts(all, base).length) return impossible('the condition is on another table')
  const requested: { readonly query: ListQuery; readonly demands: readonly Demand[] }[] = []
  for (const query of [probe.first, ...probe.next]) {
    const scans = query === probe.first ? first : scansOf(await planner.plan(query, 'withoutIndexes')).filter(subject.isOf)
    if (scans.some(({ ordersElsewhere }) => ordersElsewhere)) return impossible('the sort keys belong to several tables')
    requested.push({ query, demands: scans.map((scan) => demandOf(scan, table, base, filter, probe.ordered)) })
  }
  const demands = requested.flatMap((one) => one.demands)
  const unserved = demands.filter((demand) => !table.indexes.some((index) => serves(index, demand)))
  if (unserved.length === 0) return objection(planner, subject, probe, requested)

  const broken = table.indexes.find((index) => !index.valid && demands.every((demand) => serves({ ...index, valid: true }, demand)))
  if (broken && !table.partitioned) {
    const reason = `${broken.name} would serve it, but its build failed`
    return { kind: 'invalid', reason, statement: rebuildIndex(table, broken.name), demands, suggestion: undefined }
  }
  const suggestion = suggestIndex(table, demands[0] as Demand)
  if (suggestion === undefined || !demands.every((demand) => serves(suggestion.index, demand)))
    return impossible('no index supports the comparisons in the statement')
  return { kind: 'missing', reason: 'no index serves it', statement: suggestion.statement, demands, suggestion }
}

function newTexts(scans: readonly TableScan[], base: readonly string[]) {
  return scans.flatMap(({ conjuncts }) => conjuncts.map(({ text }) => text)).filter((text) => !base.includes(text))
}

async function objection(
  planner: Planner,
  { table, tables }: Subject,
  { ordered }: Probe,
  requested: readonly { readonly query: ListQuery; readonly demands: readonly Demand[] }[]
): Promise<Judgement | undefined> {
  for (const { query, demands } of requested) {
    if (demands.length === 0) continue
    const plan = await planner.plan(query, ordered ? 'inOrder' : 'byIndex')
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
