import { type Demand, expressionsToBind } from './fit.ts'
import type { Table, TableIndex } from './table-indexes.ts'
import type { Conjunct, IndexKey } from './table-scan.ts'

type Key = IndexKey & { readonly pattern: boolean }

/** An index that does not exist yet, with the statement that creates it. */
export interface Suggestion {
  readonly index: TableIndex
  readonly statement: string
}

/** Returns an index that would serve the demand, or undefined if no index can. With `alive`, it has only the rows that meet this condition. */
export function suggestIndex(table: Table, demand: Demand, alive: string | undefined): Suggestion | undefined {
  const predicate = demand.base.map(({ text }) => text).filter((text) => text === alive)
  const [text] = demand.filter.filter(({ kind }) => kind === 'contains').flatMap(({ expressions }) => expressions)
  if (text !== undefined) return suggestTrigrams(table, text, predicate)
  const found = demand.filter.filter(({ kind }) => kind !== 'equal' && kind !== 'flag')
  const needsPattern = ({ kind, expressions: [first = ''] }: Conjunct) => kind === 'prefix' && !findsPrefixes(table, first)
  const isUnfindable = (one: Conjunct) =>
    one.kind === 'other' || (needsPattern(one) && patternOps(table, one.expressions[0] as string) === undefined)
  if (found.some(isUnfindable) || (demand.order !== undefined && found.length > 0)) return undefined
  const keys = [
    ...expressionsToBind(demand).map((expression) => plainKey(table, expression)),
    ...found.map((one) => ({ ...plainKey(table, one.expressions[0] as string), pattern: needsPattern(one) })),
    ...upward(demand.order ?? [])
  ].filter(({ expression }, at, all) => all.findIndex((other) => other.expression === expression) === at)
  if (keys.length === 0) return undefined
  return {
    index: {
      name: '',
      valid: true,
      unique: false,
      predicate,
      texts: [],
      columns: keys.map((key) => ({
        ...key,
        notNull: false,
        comparesByDefault: !key.pattern,
        findsPrefixes: key.pattern || findsPrefixes(table, key.expression)
      }))
    },
    statement: `${creation(table)} (${keys.map((key) => columnText(table, key)).join(', ')})${whereText(predicate)};`
  }
}

// The operator class is that of the extension pg_trgm.
function suggestTrigrams(table: Table, expression: string, predicate: readonly string[]): Suggestion {
  return {
    index: { name: '', valid: true, unique: false, predicate, texts: [expression], columns: [] },
    statement: `${creation(table)} USING gin (${isPlain(expression) ? expression : `(${expression})`} gin_trgm_ops)${whereText(predicate)};`
  }
}

function creation({ name, partitioned }: Table) {
  return `CREATE INDEX ${partitioned ? '' : 'CONCURRENTLY '}ON ${name}`
}

/** Returns the statement that creates a unique index again, with only the rows that meet a condition. */
export function uniqueIndex(table: Table, { columns, predicate }: TableIndex, condition: string): string {
  const keys = columns.map((key) => columnText(table, { ...key, pattern: false }))
  return `${creation(table).replace('INDEX', 'UNIQUE INDEX')} (${keys.join(', ')})${whereText([...predicate, condition])};`
}

function whereText(predicate: readonly string[]) {
  return predicate.length === 0 ? '' : ` WHERE ${predicate.join(' AND ')}`
}

/** Returns the statement that repairs an index whose build failed. */
export function rebuildIndex(table: Table, name: string): string {
  return `REINDEX INDEX CONCURRENTLY ${table.schema}.${name};`
}

// An index can be read forward and backward, so its first key is always ascending.
function upward(order: readonly IndexKey[]): Key[] {
  const turned = order[0]?.descending === true
  return order.map((key) => ({ ...key, descending: key.descending !== turned, nullsFirst: key.nullsFirst !== turned, pattern: false }))
}

function plainKey({ columns }: Table, expression: string): Key {
  return { expression, collation: columns.get(expression)?.collation, descending: false, nullsFirst: false, pattern: false }
}

// A column of an index has the collation of the table column. The collation of an expression is explicit, because it may differ.
function columnText(table: Table, { expression, collation, descending, nullsFirst, pattern }: Key) {
  const plain = isPlain(expression)
  const own = plain ? table.columns.get(expression)?.collation : undefined
  return [
    plain ? expression : `(${expression})`,
    collation === own ? '' : ` COLLATE "${collation ?? 'default'}"`,
    pattern ? ` ${patternOps(table, expression)}` : '',
    descending ? ' DESC' : '',
    nullsFirst === descending ? '' : ` NULLS ${nullsFirst ? 'FIRST' : 'LAST'}`
  ].join('')
}

// The collation of an expression is unknown, and so is its type, which is nearly always text.
function findsPrefixes({ columns }: Table, expression: string) {
  return columns.get(expression)?.bytewise ?? false
}

function patternOps({ columns }: Table, expression: string) {
  return columns.has(expression) ? columns.get(expression)?.patternOps : 'text_pattern_ops'
}

function isPlain(expression: string) {
  return /^(?:[a-z_][a-z0-9_$]*|"(?:[^"]|"")*")$/.test(expression)
}
