/** A sort key or an index key: the expression as PostgreSQL prints it, without the table name. */
export interface IndexKey {
  readonly expression: string
  /** The collation; undefined for the default of the type. */
  readonly collation: string | undefined
  readonly descending: boolean
  readonly nullsFirst: boolean
}

/** A condition on the rows of a table. `equal` compares with a single value, and `flag` is a boolean column. An index cannot look up `other`. */
export interface Conjunct {
  readonly text: string
  readonly kind: 'equal' | 'flag' | 'any' | 'range' | 'prefix' | 'contains' | 'null' | 'notNull' | 'other'
  /** The compared expressions: several for a row value, empty if an index cannot look up the condition. */
  readonly expressions: readonly string[]
}

/** A scan of a table in a plan. */
export interface TableScan {
  readonly schema: string
  readonly table: string
  readonly order: readonly IndexKey[]
  /** Whether the order has keys of this table. */
  readonly sorted: boolean
  /** Where else the order has keys, so that no index of this table can provide it: another table, or a query that PostgreSQL computes first. */
  readonly ordersElsewhere: 'table' | 'query' | undefined
  readonly conjuncts: readonly Conjunct[]
}

/** A node of `EXPLAIN (FORMAT JSON, VERBOSE)`. */
export interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string | undefined
  readonly Schema?: string | undefined
  readonly Alias?: string | undefined
  readonly Filter?: string | undefined
  readonly 'Sort Key'?: readonly string[] | undefined
  readonly 'Index Name'?: string | undefined
  readonly 'Index Cond'?: string | undefined
  readonly Plans?: readonly PlanNode[] | undefined
}

/** Yields every node of a plan with the nodes above it, nearest first. */
export function* nodesOf(plan: PlanNode, above: readonly PlanNode[] = []): Generator<{ node: PlanNode; above: readonly PlanNode[] }> {
  yield { node: plan, above }
  for (const child of plan.Plans ?? []) yield* nodesOf(child, [plan, ...above])
}

/** Returns the table scans in a plan without indexes: a filter with all conditions below a `Sort` with the order, for each table and partition. */
export function scansOf(plan: PlanNode): TableScan[] {
  const nodes = [...nodesOf(plan)]
  const aliases = new Map(
    nodes.flatMap(({ node: { Alias: alias, 'Relation Name': table } }) =>
      alias === undefined ? [] : [[familyOf(alias), table === undefined ? 'query' : 'table'] as const]
    )
  )
  return nodes.flatMap(({ node, above }) => {
    const { Schema: schema, 'Relation Name': table, Alias: alias } = node
    if (schema === undefined || table === undefined || alias === undefined) return []
    const keys = above.find((one) => one['Sort Key'] !== undefined)?.['Sort Key'] ?? []
    const own = familyOf(alias)
    return [
      {
        schema,
        table,
        order: keys.map((key) => orderKey(key, own)),
        sorted: keys.some((key) => mentions(key, own)),
        ordersElsewhere: [...aliases].find(([other]) => other !== own && keys.some((key) => mentions(key, other)))?.[1],
        conjuncts: conjunctsOf(node.Filter ?? '', own)
      }
    ]
  })
}

// The branches of a union and the partitions of a table are numbered: `items`, `items_1`, `items_2`.
function familyOf(alias: string): string {
  return alias.replace(/_\d+$/, '')
}

/** Splits a filter or the predicate of an index into the conditions that it joins with AND. */
export function conjunctsOf(filter: string, alias?: string): Conjunct[] {
  const inner = unwrapped(filter)
  return inner === '' ? [] : splitOutside(inner, ' AND ').map((text) => conjunctOf(unwrapped(text), alias))
}

/** Returns the comparable form of an expression that PostgreSQL printed: without the table alias and outer parentheses. */
export function expressionOf(text: string, alias?: string): string {
  const prefix = alias === undefined ? undefined : prefixOf(alias)
  return unwrapped(prefix === undefined ? text : replaceOutsideStrings(text, prefix, ''))
}

function orderKey(text: string, alias: string): IndexKey {
  // PostgreSQL names the operator if it prints a column with a cast to another type, such as citext.
  const [, key = '', collation, direction, nulls] =
    /^(.*?)(?: COLLATE (?:\w+\.)?("(?:[^"]|"")+"|\w+))?(?: USING <|( DESC| USING >))?(?: NULLS (FIRST|LAST))?$/.exec(text) ?? []
  const descending = direction !== undefined
  return {
    expression: expressionOf(key, alias),
    collation: collation?.replaceAll('"', ''),
    descending,
    nullsFirst: nulls === undefined ? descending : nulls === 'FIRST'
  }
}

const comparisons = {
  ' = ': 'equal',
  ' > ': 'range',
  ' >= ': 'range',
  ' < ': 'range',
  ' <= ': 'range',
  ' ~~ ': 'prefix',
  ' ^@ ': 'prefix',
  ' ~~* ': 'contains'
} as const

function conjunctOf(text: string, alias: string | undefined): Conjunct {
  const canonical = expressionOf(text, alias)
  const of = (kind: Conjunct['kind'], ...expressions: string[]) => ({
    text: canonical,
    kind,
    expressions: expressions.map((one) => expressionOf(one, alias))
  })
  const [tested, test] = [/^(.*) IS (NOT )?NULL$/s.exec(text), splitOutside(text, ' IS ')]
  if (tested && test.length === 2) return of(tested[2] === undefined ? 'null' : 'notNull', tested[1] as string)
  for (const [operator, kind] of Object.entries(comparisons)) {
    const [left, right, ...more] = splitOutside(text, operator)
    if (left === undefined || right === undefined || more.length > 0) continue
    const [column, value] = mentions(left, alias) ? [left, right] : [right, left]
    if (mentions(value, alias)) return of('other')
    if (column.startsWith('ROW(')) return of(kind, ...splitOutside(column.slice('ROW('.length, -1), ', '))
    return value.startsWith('ANY (') ? of('any', column) : of(kind, column)
  }
  const [, started] = /^starts_with\((.*), '(?:[^']|'')*'::text\)$/s.exec(text) ?? []
  if (started !== undefined) return of('prefix', started)
  const flag = /^(?:NOT )?((?:[^\s()"]|"(?:[^"]|"")*")+)$/.exec(text)
  return flag ? of('flag', flag[1] as string) : of('other')
}

function mentions(text: string, alias: string | undefined) {
  return alias !== undefined && replaceOutsideStrings(text, prefixOf(alias), '') !== text
}

function prefixOf(alias: string) {
  const name = alias.replaceAll('"', '""').replaceAll(/[^\p{L}\p{N}_ ]/gu, String.raw`\$&`)
  return new RegExp(String.raw`(?<![\w."$])(?:${name}(?:_\d+)?|"${name}(?:_\d+)?")\.`, 'gu')
}

// PostgreSQL prints expressions in a canonical form, both in plans and in the definitions of indexes. Of its grammar, quotes and brackets matter here.

// Splits a string at each separator that is outside quotes and brackets.
function splitOutside(text: string, separator: string): string[] {
  const parts: string[] = []
  let start = 0
  for (const { index, depth } of outsideQuotes(text)) {
    if (depth !== 0 || index < start || !text.startsWith(separator, index)) continue
    parts.push(text.slice(start, index))
    start = index + separator.length
  }
  return [...parts, text.slice(start)]
}

// Returns the text without parentheses that enclose all of it.
function unwrapped(text: string): string {
  const inner = text.trim()
  if (!inner.startsWith('(')) return inner
  const closing = [...outsideQuotes(inner)].find(({ index, depth }) => inner[index] === ')' && depth === 0)
  return closing?.index === inner.length - 1 ? unwrapped(inner.slice(1, -1)) : inner
}

// Replaces the matches of a pattern outside string literals. Quoted identifiers are not strings, so matches in them are replaced too.
function replaceOutsideStrings(text: string, pattern: RegExp, replacement: string): string {
  return text
    .split(/('(?:[^']|'')*')/)
    .map((part, index) => (index % 2 === 0 ? part.replace(pattern, () => replacement) : part))
    .join('')
}

// The depth at a closing bracket is the depth outside it.
function* outsideQuotes(text: string) {
  let depth = 0
  let quote = ''
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index] as string
    if (quote !== '') {
      if (character === quote) quote = ''
      continue
    }
    if (character === "'" || character === '"') quote = character
    if (character === ')' || character === ']') depth -= 1
    yield { index, depth }
    if (character === '(' || character === '[') depth += 1
  }
}
