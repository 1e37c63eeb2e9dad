import { columnOf, type IndexColumn, type Table, type TableIndex } from './table-indexes.ts'
import { type Conjunct, expressionOf, type IndexKey, type TableScan } from './table-scan.ts'

/** The requirements that an index must meet to serve a statement: the conditions of every list (on a tenant, for example), the filter and the cursor. */
export interface Demand {
  readonly base: readonly Conjunct[]
  readonly filter: readonly Conjunct[]
  readonly cursor: readonly Conjunct[]
  /** The order that the index must provide. Undefined if the index only has to find the rows. */
  readonly order: readonly IndexKey[] | undefined
}

/** Returns the requirements of a scan of the table. */
export function demandOf(scan: TableScan, table: Table, base: readonly string[], filter: readonly string[], ordered: boolean): Demand {
  const conjuncts = scan.conjuncts.map((one) => ({ ...one, expressions: one.expressions.map((text) => columnOf(text, table.columns)) }))
  return {
    base: conjuncts.filter(({ text }) => base.includes(text)),
    filter: conjuncts.filter(({ text }) => !base.includes(text) && filter.includes(text)),
    cursor: conjuncts.filter(({ text }) => !base.includes(text) && !filter.includes(text)),
    order: ordered ? scan.order.map((key) => ({ ...key, expression: columnOf(key.expression, table.columns) })) : undefined
  }
}

/** Returns whether a single range of this index has exactly the requested rows in order, so that PostgreSQL reads no others and does not sort. */
export function serves(index: TableIndex, demand: Demand): boolean {
  if (!index.valid || !isImplied(index.predicate, demand)) return false
  const { columns, unique, predicate } = index
  const texts = demand.filter.filter(({ kind }) => kind === 'contains')
  if (texts.length > 0) return texts.every(({ expressions: [expression = ''] }) => index.texts.includes(expression))
  if (columns.length === 0) return false
  const equal = expressionsOf(demand, ['equal', 'flag'])
  const sought = leadingColumns(columns, expressionsOf(demand, ['equal', 'flag', 'null']))
  if (!expressionsToBind(demand, predicate).every((expression) => sought.includes(expression))) return false
  if (unique && columns.every(({ expression }) => equal.has(expression))) return true
  const next = columns.slice(sought.length)
  if (demand.order === undefined) return demand.filter.every((one) => predicate.includes(one.text) || isFound(one, sought, next[0]))
  return isInOrder(index, demand.order, equal) && demand.cursor.every((one) => bindsCursor(one, sought, next))
}

/** Returns the expressions that must be the first columns of an index, because they are compared for equality outside its predicate. */
export function expressionsToBind({ base, filter }: Demand, predicate: readonly string[] = []): string[] {
  const always = base.filter(({ kind }) => kind === 'equal')
  const open = [...always, ...filter.filter(isBound)].filter(({ text }) => !predicate.includes(text))
  return [...new Set(open.flatMap(({ expressions }) => expressions))]
}

function expressionsOf({ base, filter, cursor }: Demand, kinds: readonly Conjunct['kind'][]) {
  return new Set([...base, ...filter, ...cursor].filter(({ kind }) => kinds.includes(kind)).flatMap(({ expressions }) => expressions))
}

// A scan by columns after a gap reads the index from end to end, so only columns before the first gap count.
function leadingColumns(columns: readonly IndexColumn[], sought: ReadonlySet<string>): string[] {
  const gap = columns.findIndex(({ expression }) => !sought.has(expression))
  return columns.slice(0, gap === -1 ? columns.length : gap).map(({ expression }) => expression)
}

// The index is read forward or backward, and all keys must have the same direction. A column that equals a value does not matter,
// but a column that is null does: for the planner, it is not a constant.
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
  // No two rows have the same values in a unique index, so the keys that follow decide nothing.
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

// The cursor determines the start of the range. Its keys must match the columns of the index, as far as the index has columns: a
// key that is cast to another type is compared row by row.
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

// A partial index has all rows only if its conditions are true for every query. A comparison with the sample value of a probe
// proves nothing; tests of null and flags are probed both ways.
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
