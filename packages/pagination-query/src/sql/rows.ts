import { filterName } from '../declaration/parameter-objects.ts'
import { invalidQuery } from '../errors.ts'
import type { ListQuery } from '../list/list-query.ts'
import { operatorOf } from '../list/operators.ts'
import { type CountRows, countTotal, type KeyedRow, type Page, pageOf } from '../list/page.ts'
import { type ValueKind, wholeDigits } from '../list/value-text.ts'
import { knownDialect } from './other-dialect.ts'
import { keyName, memberName } from './parts.ts'

/** Returns the page that `fetchText` makes, or else that of the rows that `fetch` selects, with its total. Does not fetch rows if the query has no range. */
export async function fetchPage<Row>(
  query: ListQuery<Row>,
  fetch: () => Promise<readonly object[]>,
  countRows: CountRows,
  fetchText: () => Promise<Page<Row> | undefined>
): Promise<Page<Row>> {
  return withRefusals(query, async () => {
    const written = await fetchText()
    if (written !== undefined) return written
    const rows = query.ranges.length === 0 ? [] : await fetch()
    return pageOf(query, keyedRows(query, rows), await countTotal(query, rows.length, countRows))
  })
}

/** Returns the rows of a result under their field names, each with its sort keys in a separate property. */
export function keyedRows<Row>(query: ListQuery<Row>, rows: readonly object[]): KeyedRow<Row>[] {
  const members = query.fields.map((field, index) => ({ field, name: memberName(index), kind: query.kinds?.[field] }))
  const keys = query.order.map(({ kind }, index) => ({ name: keyName(index), kind }))
  return (rows as readonly Readonly<Record<string, unknown>>[]).map((found) => {
    const row: Record<string, unknown> = {}
    for (const { field, name, kind } of members) row[field] = valueOf(found[name], kind)
    return { row: row as Row, key: keys.map(({ name, kind }) => keyOf((found[name] ?? null) as string | null, kind)) }
  })
}

// A column of decimals or of floating-point numbers may contain only integers, with another form as text.
/** Returns a sort key from its text in a statement. */
export function keyOf(text: string | null, kind: ValueKind) {
  return kind === 'integer' && text !== null ? (wholeDigits(text) ?? text) : text
}

// PostgreSQL omits trailing zeros of a fraction. In responses, a time has three or six decimal places of a second.
function valueOf(value: unknown, kind: ValueKind | undefined): unknown {
  if (kind !== 'date-time' || typeof value !== 'string') return value
  return value.replace(/(:\d\d)(\.\d+)?Z$/, (_, seconds: string, fraction = '.') => {
    const digits = fraction.length > 4 ? 7 : 4
    return `${seconds}${fraction.padEnd(digits, '0')}Z`
  })
}

interface DatabaseError {
  readonly code?: unknown
  readonly where?: unknown
  readonly cause?: DatabaseError | undefined
  /** What Prisma has in place of the code and the context. */
  readonly meta?: { readonly driverAdapterError?: { readonly cause?: { readonly originalCode?: unknown } } } | undefined
}

// The codes of PostgreSQL for a text that a type does not have.
const refused: ReadonlySet<unknown> = new Set(['22003', '22007', '22008', '22P02'])

/**
 * Runs the statements of a list. If the database refuses a parameter, a filter has a value that the type of its column does not have, such as a text
 * for a column of UUIDs that is declared as text. Throws the 422 error for these filters then, and any other error unchanged.
 */
async function withRefusals<Result>({ conditions }: ListQuery, run: () => Promise<Result>): Promise<Result> {
  try {
    return await run()
  } catch (error) {
    const filters = conditions.filter(({ kind, operator }) => kind === 'string' && operatorOf[operator].takes !== 'flag')
    if (filters.length === 0 || !refusesParameter(error as DatabaseError)) throw knownDialect(error)
    throw invalidQuery(filters.map(({ field, operator }) => ({ field: filterName(field, operator), key: 'notOfType' })))
  }
}

function refusesParameter({ code, where, cause, meta }: DatabaseError): boolean {
  if (refused.has(meta?.driverAdapterError?.cause?.originalCode)) return true
  if (!refused.has(code)) return cause !== undefined && refusesParameter(cause)
  // Other texts that PostgreSQL cannot convert come from the rows.
  return /parameter \$\d/.test(String(where))
}
