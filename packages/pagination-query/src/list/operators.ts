import { bound, type Fragment, fragment, raw } from './fragment.ts'
import type { ValueKind } from './value-text.ts'

/** A filter operator: all that the reader of queries, the adapters, the API description and the docs know of it. */
interface Definition {
  /** Completes "the field is" in the API description and in docs/collections.md. */
  readonly meaning: string
  /** The kinds of fields that can have it. */
  readonly kinds: readonly ValueKind[]
  /** Whether a declaration must name it, because `true` does not include it. */
  readonly optIn?: true
  /** Whether only fields that can be null have it. */
  readonly needsNull?: true
  /** What a client sends: a value of the field, several of them, or `true` or `false`. */
  readonly takes: 'value' | 'list' | 'flag'
  /** Which index the check demands: one that finds the rows in the default order, because many may meet it, one that finds them, or none. */
  readonly index: 'ordered' | 'found' | 'none'
  /** Whether a value meets it. All values are in the form of `orderText`. */
  readonly meets: (found: string | null, wanted: readonly string[]) => boolean
  /**
   * The SQL. `value` has the type of the column, and the items of a list are joined by commas; `text` is the first value as text. `hasTenant`: whether a
   * policy may apply to the rows.
   */
  readonly sql: (column: Fragment, value: Fragment, text: string, hasTenant: boolean) => Fragment
}

// Text has no comparison: its order depends on the collation of the database, which clients do not know. Times have no equality: a filter by a whole
// second would match nothing, because the row has microseconds.
const listed = ['string', 'enum', 'uuid', 'integer', 'decimal', 'date'] as const
const equal = [...listed, 'boolean'] as const
const ordered = ['integer', 'decimal', 'date', 'date-time'] as const

/** The filter operators, the same for every collection (rule Q6). `field=value` without an operator is `eq`. */
const operators = {
  eq: {
    meaning: 'equal to',
    kinds: equal,
    takes: 'value',
    index: 'ordered',
    meets: (found, [wanted]) => found === wanted,
    sql: (column, value) => fragment`${column} = ${value}`
  },
  ne: {
    meaning: 'not equal to the value, or null',
    kinds: equal,
    takes: 'value',
    index: 'none',
    meets: (found, [wanted]) => found !== wanted,
    sql: (column, value) => fragment`${column} is distinct from ${value}`
  },
  gt: compared('greater than', '>', (found, wanted) => found > wanted),
  gte: compared('greater than or equal to', '>=', (found, wanted) => found >= wanted),
  lt: compared('less than', '<', (found, wanted) => found < wanted),
  lte: compared('less than or equal to', '<=', (found, wanted) => found <= wanted),
  in: {
    meaning: 'one of',
    kinds: listed,
    takes: 'list',
    index: 'found',
    meets: (found, wanted) => found !== null && wanted.includes(found),
    sql: (column, value) => fragment`${column} in (${value})`
  },
  nin: {
    meaning: 'none of the values, or null',
    kinds: listed,
    takes: 'list',
    index: 'none',
    meets: (found, wanted) => found === null || !wanted.includes(found),
    sql: (column, value) => fragment`(${column} is null or ${column} not in (${value}))`
  },
  null: {
    meaning: 'null (true) or not (false)',
    kinds: [...equal, 'date-time'],
    needsNull: true,
    takes: 'flag',
    index: 'found',
    meets: (found, [wanted]) => (found === null) === (wanted === 'true'),
    sql: (column, _value, text) => fragment`${column} is ${raw(text === 'true' ? 'null' : 'not null')}`
  },
  prefix: {
    meaning: 'beginning with',
    kinds: ['string'],
    optIn: true,
    takes: 'value',
    index: 'found',
    meets: (found, [wanted = '']) => found?.startsWith(wanted) === true,
    sql: (column, _value, text, hasTenant) => prefixSql(column, text, hasTenant)
  },
  contains: {
    meaning: 'containing, in upper or lower case',
    kinds: ['string'],
    optIn: true,
    takes: 'value',
    index: 'found',
    meets: (found, [wanted = '']) => found !== null && foldedCase(found).includes(foldedCase(wanted)),
    sql: (column, _value, text) => fragment`${column}${raw(containsSql)}${bound(`%${literally(text)}%`)}`
  }
} as const satisfies Readonly<Record<string, Definition>>

function compared(meaning: string, sign: string, compare: (found: string, wanted: string) => boolean) {
  const meets: Definition['meets'] = (found, [wanted = '']) => found !== null && compare(found, wanted)
  const sql: Definition['sql'] = (column, value) => fragment`${column} ${raw(sign)} ${value}`
  return { meaning, kinds: ordered, takes: 'value', index: 'found', meets, sql } as const
}

type Operators = typeof operators
export type Operator = keyof Operators

/** The operators in their order, and the properties of one. */
export const operatorNames = Object.keys(operators) as Operator[]
export const operatorOf: Readonly<Record<Operator, Definition>> = operators

/** The operators of the kinds, which a field has whether it can be null or not. */
export type OperatorsOn<Kind extends ValueKind> = {
  [Name in Operator]: Operators[Name] extends { needsNull: true }
    ? never
    : [Extract<Operators[Name]['kinds'][number], Kind>] extends [never]
      ? never
      : Name
}[Operator]
/** The operators with a property. */
export type OperatorsWith<Property> = { [Name in Operator]: Operators[Name] extends Property ? Name : never }[Operator]

// LIKE compares in the type of the column, and can use an index, but before version 18 PostgreSQL refuses it for a nondeterministic collation. There, a
// value has the prefix if one of its beginnings equals it. Only a nondeterministic collation ignores control characters, so the planner knows which
// branch applies, and removes the other.
// Under a policy, no index serves LIKE, because it is not leakproof, and from version 15 on the same indexes serve ^@. But ^@ compares as text does, so
// LIKE stays for types that ignore case or spaces at the end, which the planner knows in the same way.
function prefixSql(column: Fragment, prefix: string, hasTenant: boolean): Fragment {
  const isNondeterministic = fragment`case when true then chr(1) else ${column} end = ''`
  const beginnings = fragment`select from generate_series(0, 4 * length(${bound(prefix)}::text)) as n where left(${column}, n) = ${bound(prefix)}`
  const like = fragment`${column} like ${bound(`${literally(prefix)}%`)}`
  const ignores = fragment`case when true then 'A' else ${column} end = 'a' or case when true then 'a ' else ${column} end = 'a'`
  const otherwise = hasTenant ? fragment`when ${ignores} then ${like} else ${column} ^@ ${bound(prefix)}` : fragment`else ${like}`
  return fragment`case when ${isNondeterministic} then exists (${beginnings}) ${otherwise} end`
}

/** The SQL that only `contains` has. */
export const containsSql = ' ilike '

// ILIKE compares single characters in lower case: a final sigma is a sigma, and ß is not ss.
function foldedCase(ordered: string) {
  const text = Buffer.from(ordered, 'latin1').toString('utf8')
  return Array.from(text, (character) => String.fromCodePoint(character.toLowerCase().codePointAt(0) as number)).join('')
}

function literally(text: string) {
  return text.replaceAll(/[\\%_]/g, String.raw`\$&`)
}
