import { columnOf, type IndexColumn, type Table, type TableIndex } from './table-indexes.ts'
import { type Conjunct, expressionOf, type IndexKey, type TableScan } from './table-scan.ts'

/** What an index must do for a statement. */
export interface Demand {
  /** Conditions that hold for every list of the collection, such as that of a tenant. */
  readonly base: readonly Conjunct[]
  /** The conditions of the filter that is asked for. */
  readonly filter: readonly Conjunct[]
  /** Where the cursor says to go on. */
  readonly cursor: readonly Conjunct[]
  /** The order that the index must give; undefined when finding the rows is enough. */
  readonly order: readonly IndexKey[] | undefined
}

/** Writes what a statement asks in the names of the columns of its table, and tells filter and cursor from what always holds. */
export function demandOf(scan: TableScan, table: Table, base: readonly string[], filter: readonly string[], ordered: boolean): Demand {
  const conjuncts = scan.conjuncts.map((one) => ({ ...one, expressions: one.expressions.map((text) => columnOf(text, table.texts)) }))
  return {
    base: conjuncts.filter(({ text }) => base.includes(text)),
    filter: conjuncts.filter(({ text }) => !base.includes(text) && filter.includes(text)),
    cursor: conjuncts.filter(({ text }) => !base.includes(text) && !filter.includes(text)),
    order: ordered ? scan.order.map((key) => ({ ...key, expression: columnOf(key.expression, table.texts) })) : undefined
  }
}

/** Whether PostgreSQL can answer with one range of this index: no row is read that the answer doesn't need, and none is sorted. */
export function serves(index: TableIndex, demand: Demand): boolean {
  if (!index.valid || !isImplied(index.predicate, demand)) return false
  const { columns, unique, predicate } = index
  const equal = expressionsOf(demand, ['equal', 'flag'])
  const sought = leadingColumns(columns, expressionsOf(demand, ['equal', 'flag', 'null']))
  if (!expressionsToBind(demand, predicate).every((expression) => sought.includes(expression))) return false
  if (unique && columns.every(({ expression }) => equal.has(expression))) return true
  const next = columns.slice(sought.length)
  if (demand.order === undefined) return demand.filter.every((one) => predicate.includes(one.text) || isFound(one, sought, next[0]))
  return isInOrder(index, demand.order, equal) && demand.cursor.every((one) => bindsCursor(one, sought, next))
}

/** The expressions that must equal a value before anything else is looked up, unless all rows of the index meet them. */
export function expressionsToBind({ base, filter }: Demand, predicate: readonly string[] = []): string[] {
  const always = base.filter(({ kind }) => kind === 'equal')
  const open = [...always, ...filter.filter(isBound)].filter(({ text }) => !predicate.includes(text))
  return [...new Set(open.flatMap(({ expressions }) => expressions))]
}

function expressionsOf({ base, filter, cursor }: Demand, kinds: readonly Conjunct['kind'][]) {
  return new Set([...base, ...filter, ...cursor].filter(({ kind }) => kinds.includes(kind)).flatMap(({ expressions }) => expressions))
}

// An index that is read along columns after a gap is read from end to end, so only columns without one before them count.
function leadingColumns(columns: readonly IndexColumn[], sought: ReadonlySet<string>): string[] {
  const gap = columns.findIndex(({ expression }) => !sought.has(expression))
  return columns.slice(0, gap === -1 ? columns.length : gap).map(({ expression }) => expression)
}

// Read in its own direction or backward; every key must agree on which. A column that equals a value has no say, but one that is
// null has: to the planner it is no constant.
function isInOrder({ unique, columns }: TableIndex, order: readonly IndexKey[], equal: ReadonlySet<string>): boolean {
  const keys = [...order]
  let backward: boolean | undefined
  for (const column of columns) {
    const [key] = keys
    if (key === undefined) break
    if (column.expression === key.expression) {
      backward ??= column.descending !== key.descending
      if (!ordersAlike(column, key, backward)) return false
      keys.shift()
    } else if (!equal.has(column.expression)) return false
  }
  // No two rows have the same values of a unique index, so the keys that follow decide nothing.
  return keys.length === 0 || (unique && columns.every(({ notNull, expression }) => notNull || equal.has(expression)))
}

function ordersAlike(column: IndexColumn, key: IndexKey, backward: boolean): boolean {
  return (
    column.collation === key.collation &&
    column.comparesByDefault &&
    (column.descending !== key.descending) === backward &&
    (column.nullsFirst !== key.nullsFirst) === backward
  )
}

// Where a cursor goes on is the beginning of the range. As many of its keys as the index has must be compared as they are: one
// that is cast to another type is compared row by row.
function bindsCursor({ kind, expressions }: Conjunct, sought: readonly string[], next: readonly IndexColumn[]): boolean {
  if (kind === 'other') return false
  if (isBound({ kind }) || kind === 'null') return expressions.every((expression) => sought.includes(expression))
  return expressions.every((expression, at) => next[at] === undefined || next[at].expression === expression)
}

function isFound({ kind, expressions: [expression = ''] }: Conjunct, sought: readonly string[], column: IndexColumn | undefined): boolean {
  if (sought.includes(expression)) return true
  if (column === undefined || kind === 'other' || column.expression !== expression) return false
  if (kind === 'prefix') return column.findsPrefixes
  return kind !== 'range' || column.comparesByDefault
}

// A partial index has all rows only when its conditions hold whatever is asked. That a value equals the one asked for just now
// proves nothing; tests of null and flags are asked both ways.
function isImplied(predicate: readonly string[], { base, filter, cursor }: Demand): boolean {
  const given = [...base, ...[...filter, ...cursor].filter(({ kind }) => kind === 'flag' || kind === 'null' || kind === 'notNull')]
  const strict = new Set(
    [...base, ...filter, ...cursor]
      .filter(({ kind, expressions }) => kind !== 'other' && kind !== 'null' && expressions.length === 1)
      .flatMap(({ expressions }) => expressions)
  )
  return predicate.every((condition) => {
    const [, expression] = /^(.*) IS NOT NULL$/s.exec(condition) ?? []
    return given.some(({ text }) => text === condition) || (expression !== undefined && strict.has(expressionOf(expression)))
  })
}

function isBound({ kind }: Pick<Conjunct, 'kind'>) {
  return kind === 'equal' || kind === 'flag'
}
