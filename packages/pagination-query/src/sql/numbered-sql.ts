// The tokens of PostgreSQL that matter here: constants, quoted names, comments, names, which may contain a dollar sign, and placeholders.
const tokens =
  /e'(?:[^'\\]|\\.|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*.*?\*\/|\$([a-z_]\w*)?\$.*?\$\1\$|[a-z_\u0080-\uffff][\w$\u0080-\uffff]*|\$\d+|\/\*|\*\/|['"`;()]/gis
const comment = /^(?:--|\/\*)/
const queryStart = /^(?:\(|select|with|values|table)$/i

/** Returns SQL with its placeholders counted from `before + 1`. Throws a `TypeError` if it is not one expression or query with a placeholder for each value. */
export function numberedSql(path: string, sql: string, values: readonly unknown[], before: number): string {
  const places = new Set<number>()
  let depth = 0
  const numbered = sql.replace(tokens, (token) => {
    if (/^\$\d/.test(token)) {
      const place = Number(token.slice(1))
      places.add(place)
      return `$${place + before}`
    }
    if (token === '`') {
      throw new TypeError(
        `pagination-query: ${path} is in the SQL of another database: \` quotes no name in PostgreSQL. Use PostgreSQL, or an adapter of your own, which adapterContract tests.`
      )
    }
    if (token === '(') depth += 1
    if (token === ')') depth -= 1
    if (depth < 0 || /^(?:\/\*|\*\/|['";])$/.test(token)) refuseParts(path)
    return token
  })
  if (depth !== 0) refuseParts(path)
  const isComplete = places.size === values.length && values.every((_, index) => places.has(index + 1))
  if (!isComplete) refuseValues(path, [...places], values.length)
  return numbered
}

/** Returns what follows FROM: SQL without values unchanged, and a query with values in parentheses, with its placeholders counted from `before + 1`. */
export function numberedQuery(sql: string, values: readonly unknown[] | undefined, before: number): string {
  const isQuery = queryStart.test((sql.match(tokens) ?? []).find((token) => !comment.test(token)) ?? '')
  if (values === undefined) {
    if (isQuery && !sql.trimStart().startsWith('('))
      throw new TypeError('pagination-query: source.table.sql is a query. Add source.table.values, [] if it has no values.')
    return sql
  }
  if (!isQuery)
    throw new TypeError(
      'pagination-query: source.table.sql must be a query that begins with SELECT or WITH, because it has values. For the SQL after FROM, remove values.'
    )
  // The line ends a comment at the end of the query.
  return `(${numberedSql('source.table.sql', sql, values, before)}\n) as listed`
}

function refuseParts(path: string): never {
  throw new TypeError(
    `pagination-query: ${path} must be a single expression or query: without a semicolon, and with all its quotes, parentheses and comments closed.`
  )
}

function refuseValues(path: string, places: readonly number[], count: number): never {
  const remedy =
    places.length === 0
      ? 'Use the SQL of PostgreSQL with the placeholders $1, $2 and so on, with Knex that of toSQL().toNative().'
      : 'Number them from $1, and pass a value for each.'
  const found = places.length === 0 ? 'no placeholder' : places.map((place) => `$${place}`).join(', ')
  throw new TypeError(`pagination-query: ${path} has ${found} for ${count} value${count === 1 ? '' : 's'}. ${remedy}`)
}
