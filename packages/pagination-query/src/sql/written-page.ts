import type { SqlText } from '../declaration/sql-source.ts'
import { formsOf, type RowForm, rowFormOf } from '../list/field-form.ts'
import { type Fragment, fragment, joined, raw } from '../list/fragment.ts'
import type { Key, ListQuery } from '../list/list-query.ts'
import { knownItems, type Page, readsFromAnEnd, totalOf } from '../list/page.ts'
import type { ValueKind } from '../list/value-text.ts'
import { WrittenRows, writtenPage } from '../list/written-rows.ts'
import { columnValuesOf, columnValuesSql } from './column-values.ts'
import { keyText } from './columns.ts'
import { pageSql, rowsSql, type SelectRows } from './page.ts'
import { type FieldPart, fieldParts, type PartWriter, partWriter, rowReader } from './part-writer.ts'
import { storedNames } from './parts.ts'
import { keyOf } from './rows.ts'
import type { RowSource } from './source.ts'
import { countSql, render } from './statement.ts'

/** What the statement of a page is made of, and how it is run. */
interface StatementSource {
  /** What determines the types of the columns, besides the fields of the query. */
  readonly key: string
  readonly source: RowSource
  readonly select: SelectRows
  readonly run: (statement: SqlText) => Promise<readonly object[]>
  /** Where the statement of the query is stored, for a query that is repeated. */
  readonly compiled: { written?: WrittenStatement | undefined }
}

/** A statement whose result is the whole page as one text. */
export interface WrittenStatement {
  readonly statement: SqlText
  /** The number of parts of a row. */
  readonly stride: number
  readonly keys: readonly KeyPart[]
}

interface KeyPart {
  readonly kind: ValueKind
  readonly at: number
  readonly bit: number | undefined
}

// How the rows of a source are written and read.
interface RowShape {
  readonly parts: readonly FieldPart[]
  readonly write: PartWriter
  readonly read: (texts: readonly string[], row: number) => unknown
  // The number of pages to fetch as rows, because a page had a value that only a driver can read.
  pause: number
}

const separator = '\x1f'
const separatorSql = 'chr(31)'
/** The name of the text of a page in its statement. */
export const pageName = 'pagetext'
const pausedPages = 100
const maxShapes = 50
const shapes = new WeakMap<RowForm, Map<string, RowShape | undefined>>()

/**
 * Fetches a page as one text, from which its JSON is made without an object for a row. Returns undefined if the page must be fetched as rows: the form
 * of its response or the types of its columns are not known, or a value contains the separator, is NULL where the schema requires a value, or has a form
 * that only its driver knows.
 */
export async function fetchWritten<Row>(query: ListQuery<Row>, from: StatementSource): Promise<Page<Row> | undefined> {
  const form = rowFormOf(query.kinds)
  const shape = form && query.ranges.length > 0 ? await shapeOf(form, query, from) : undefined
  if (shape === undefined) return undefined
  if (shape.pause > 0) {
    shape.pause -= 1
    return undefined
  }
  const { compiled, run } = from
  compiled.written ??= writtenStatement(query, from, shape)
  const [found] = (await run(compiled.written.statement)) as [PageText]
  const page = pageOfText(query, found, compiled.written, shape)
  if (page === undefined) shape.pause = pausedPages
  return page as Page<Row> | undefined
}

interface PageText {
  readonly [pageName]?: string | null
  readonly fetched: string
  readonly items?: string | null
}

function pageOfText(query: ListQuery, found: PageText, { stride, keys }: WrittenStatement, { write, read }: RowShape) {
  const { perPage, reverse, count } = query
  const fetched = Number(found.fetched)
  const texts = fetched === 0 ? [] : String(found[pageName]).split(separator)
  // A separator in a value makes more parts.
  if (texts.length !== fetched * stride) return undefined
  const length = Math.min(fetched, perPage)
  const [start, step] = reverse ? [length - 1, -1] : [0, 1]
  const text = write(texts, stride, start, step, length)
  if (text === undefined) return undefined
  const readRows = () => Array.from({ length }, (_, index) => read(texts, (start + step * index) * stride))
  const keyAt = (row: number) => (length === 0 ? undefined : keyOfParts(texts, row * stride, keys))
  const items = typeof found.items === 'string' ? Number(found.items) : knownItems(query, fetched)
  return writtenPage(new WrittenRows(`[${text}]`, length, query, readRows), {
    first: keyAt(start),
    last: keyAt(start + step * (length - 1)),
    hasMore: fetched > perPage,
    total: count === 'none' ? undefined : totalOf(items as number, count)
  })
}

function keyOfParts(texts: readonly string[], row: number, keys: readonly KeyPart[]): Key {
  return keys.map(({ kind, at, bit }) => {
    const text = texts[row + at] as string
    const isNull = bit === undefined ? text === '' : texts[row]?.[bit] === 't'
    return isNull ? null : keyOf(text, kind)
  })
}

// The types of the columns are read once, when a query is repeated: for a single one, this would cost more than it saves.
async function shapeOf(form: RowForm, query: ListQuery, from: StatementSource): Promise<RowShape | undefined> {
  let known = shapes.get(form)
  if (known === undefined) shapes.set(form, (known = new Map()))
  const { fields } = query
  const key = `${fields.join()}\n${from.key}`
  if (known.has(key) || known.size === maxShapes || !Object.isFrozen(query.conditions)) return known.get(key)
  // Requests in the meantime fetch rows.
  known.set(key, undefined)
  try {
    const forms = formsOf(form, fields)
    if (forms === undefined) return undefined
    const { source, select, run } = from
    const values = columnValuesOf(query, await run(render(source, columnValuesSql(query, source.columns, select))))
    const parts = fieldParts(query, values)
    const write = parts && partWriter(forms, parts, values)
    const shape = parts && write && { parts, write, read: rowReader(query, parts, values), pause: 0 }
    known.set(key, shape)
    return shape
  } catch (error) {
    known.delete(key)
    throw error
  }
}

// One row for the whole page: a driver takes longer to read fifty rows than to split a text. An aggregate reads the rows of a sorted subquery in their
// order, and `concat` writes each value as PostgreSQL sends it.
function writtenStatement(query: ListQuery, { source, select }: StatementSource, { parts }: RowShape): WrittenStatement {
  const nameOf = storedNames(query)
  const bits = parts.filter(({ bit }) => bit !== undefined).map(({ field }) => fragment`${nameOf(field)} is null`)
  const texts = parts.map(({ field, kind }) =>
    kind === 'time' ? fragment`(${nameOf(field)}::timestamptz at time zone 'UTC')` : nameOf(field)
  )
  const keys = query.order.map(({ field, kind }): KeyPart => {
    const part = parts.find((one) => one.field === field)
    if (part !== undefined && sameAsKey.has(part.kind)) return { ...part, kind }
    const bit = kind === 'string' || kind === 'enum' ? bits.push(fragment`${nameOf(field)} is null`) - 1 : undefined
    return { kind, bit, at: texts.push(keyText(nameOf(field), kind)) }
  })
  const row = [...(bits.length === 0 ? [raw("''")] : bits), ...texts.flatMap((text) => [raw(separatorSql), text])]
  const rows = rowsSql(pageSql(query, source.columns, true), select)
  const statement = fragment`select string_agg(${concatenated(row)}, ${raw(separatorSql)}) as ${raw(pageName)}, count(*)::text as fetched${itemsSql(query, source)} from (${rows}) as page`
  return { statement: render(source, statement), stride: texts.length + 1, keys }
}

// The types whose text is that of a sort key.
const sameAsKey: ReadonlySet<FieldPart['kind']> = new Set(['text', 'uuid', 'whole', 'large', 'exact', 'real'])

// PostgreSQL accepts at most 100 arguments.
function concatenated(texts: readonly Fragment[]): Fragment {
  if (texts.length <= 100) return fragment`concat(${joined(texts, ', ')})`
  return concatenated([concatenated(texts.slice(0, 100)), ...texts.slice(100)])
}

// PostgreSQL does not run a subquery of a branch of CASE that does not apply.
function itemsSql(query: ListQuery, source: RowSource): Fragment {
  const { count, offset, perPage } = query
  if (count === 'none') return raw('')
  const items = fragment`(${countSql(query, source, count === 'exact' ? undefined : count.max + 1)})`
  if (!readsFromAnEnd(query)) return fragment`, ${items} as items`
  return fragment`, case when count(*) between ${raw(offset === 0 ? '0' : '1')} and ${raw(String(perPage))} then null else ${items} end as items`
}
