import { describeOptions, flag, type OptionsOf, value } from '@concordat/plugin-kit/options'
import { rowMissing } from './connections/errors.ts'
import { type ExpectedVersions, expectedVersions, found, onViolation, type Statements, type Versioned } from './rows.ts'

/** The part of `request.preconditions` of conditional-caching that a table uses. */
interface Preconditions {
  readonly createOnly: boolean
  versions(): readonly string[] | '*' | null
  failed(currentVersion?: string | number): Error
}

/** A collection of pagination-query, or the name of a table and its fields: `{ name: 'users', fields: new Set(['id', 'role']) }`. */
interface TableCollection<Row> {
  readonly name: string
  readonly fields: Pick<ReadonlyMap<string, unknown>, 'keys' | 'has'>
  /** The type as which the column of a field is read, because the field is a string with a number: with all digits. */
  readonly numberTexts?: ReadonlyMap<string, 'text' | 'text[]'> | undefined
  readonly query?: { readonly row?: Row | undefined } | undefined
}

/** The description of {@link TableOptions}. @readme */
export const tableOptions = describeOptions('postgres', {
  /** Whether the table has a column `version` that is new with every write, for example by a trigger. */
  hasVersion: flag({ default: true }),
  /** The columns of fields, as in `runSql`, where they are not the names of the fields in snake case. Of SQL, only a column with a cast can be written. */
  columns: value<Readonly<Record<string, string | { readonly sql: string }>>>({ default: {}, names: { '*': { sql: true } } }),
  /** The errors of writes that violate a constraint, by its name: `{ books_author_id_fkey: () => errors.create('UNKNOWN_AUTHOR') }`. */
  violations: value<Readonly<Record<string, () => Error>>>({ default: {} })
})

/** Options of {@link table}. */
export interface TableOptions extends OptionsOf<typeof tableOptions> {}

/** The values that select a row, by field or other column: `{ id }`. They come from the service, which validates them. */
type Key = Readonly<Record<string, unknown>>
/** The values to write. `null` removes a value, and a field that is undefined stays. */
type Values<Row> = { readonly [Field in keyof Row]?: Row[Field] | null | undefined }

/**
 * The SQL of a table. Each function is one statement, on a database or in the transaction of a request. With `preconditions`, a write applies only to
 * the versions that the client expects: otherwise it throws 412, and 404 `RESOURCE_NOT_FOUND` when no row has the key.
 */
export interface Table<Row extends object> {
  /** The columns for `SELECT` and `RETURNING` of other statements, with the names of the fields. */
  readonly columns: string
  find(rows: Statements, key: Key): Promise<Row | undefined>
  /** Returns the row and locks it until the transaction ends. */
  lock(rows: Statements, key: Key, preconditions?: Preconditions): Promise<Row>
  insert(rows: Statements, values: Values<Row>): Promise<Row>
  /** Changes the fields that are given. Without any, the row stays as it is. */
  update(rows: Statements, key: Key, changes: Values<Row>, preconditions?: Preconditions): Promise<Row>
  /** Replaces the row, or creates it. With `If-None-Match: *`, it only creates. */
  put(
    rows: Statements,
    key: Key,
    values: Values<Row>,
    preconditions: Preconditions
  ): Promise<{ readonly row: Row; readonly isCreated: boolean }>
  /** Returns the row that was deleted. */
  delete(rows: Statements, key: Key, preconditions?: Preconditions): Promise<Row>
}

/**
 * Returns the SQL of the table of a collection: its name, and the fields as columns, both in snake case. Throws a `TypeError` for values of other fields,
 * so that a client cannot write a column that the collection does not show.
 *
 * @example
 * const books = table(bookCollection)
 * const book = await books.update(statementsOn(request.transaction), { id: request.params.id }, request.body, request.preconditions)
 */
export function table<Row extends object>(
  collection: TableCollection<Row>,
  options: TableOptions & { readonly hasVersion: false }
): Table<Row>
export function table<Row extends object>(collection: TableCollection<Row>, options?: TableOptions): Table<Versioned<Row>>
export function table<Row extends object>(collection: TableCollection<Row>, options: TableOptions = {}): Table<Row> {
  const { hasVersion, columns: special, violations } = tableOptions.read(options)
  const from = quoted(snakeCase(collection.name))
  const names = [...collection.fields.keys(), ...(hasVersion ? ['version'] : [])]
  const columns = names.map((field) => `${columnOf(field)}${castOf(field)} AS ${quoted(field)}`).join(', ')

  function castOf(field: string) {
    const type = collection.numberTexts?.get(field)
    return type === undefined ? '' : `::${type}`
  }

  function columnOf(field: string) {
    const column = Object.hasOwn(special, field) ? special[field] : undefined
    return typeof column === 'object' ? `(${column.sql})` : quoted(column ?? snakeCase(field))
  }

  /** Returns the column that a write sets: that of the field, or that which its SQL converts. */
  function writableColumnOf(field: string) {
    const column = columnOf(field)
    if (!column.startsWith('(')) return column
    const [, converted] = conversion.exec(column) ?? []
    if (converted !== undefined) return converted
    throw new TypeError(
      `postgres: the field "${field}" of table "${collection.name}" is the SQL ${column}, which cannot be written. Remove it from the values, or name its column in options.columns.`
    )
  }

  /** Returns the columns and the values of the fields that are given. */
  function written(given: object): Written {
    const entries = Object.entries(given).filter(([, one]) => one !== undefined)
    for (const [field] of entries)
      if (!collection.fields.has(field))
        throw new TypeError(`postgres: table "${collection.name}" has no field "${field}". Remove it from the values.`)
    return { columns: entries.map(([field]) => writableColumnOf(field)), values: entries.map(([, one]) => one) }
  }

  /** Returns the condition that a row has the key. Its parameters are the first ones of a statement. */
  function has(key: Key) {
    const conditions = Object.keys(key).map((field, index) => `${columnOf(field)} = $${index + 1}`)
    return conditions.join(' AND ')
  }

  async function run<Result extends object = Row>(rows: Statements, statement: string, values: readonly unknown[]) {
    const [row] = await onViolation(rows.query<Result>(statement, values), violations)
    return row
  }

  function select(rows: Statements, key: Key, lock = '') {
    return run(rows, `SELECT ${columns} FROM ${from} WHERE ${has(key)}${lock}`, Object.values(key))
  }

  async function lock(rows: Statements, key: Key, preconditions?: Preconditions) {
    const row = found(await select(rows, key, ' FOR UPDATE'))
    if (expectedIn(preconditions)?.includes(String(versionOf(row))) === false) throw preconditions?.failed(versionOf(row))
    return row
  }

  /** Runs an UPDATE or a DELETE of the row that has the key and an expected version. */
  async function change(rows: Statements, action: string, key: Key, values: readonly unknown[], preconditions?: Preconditions) {
    const expected = expectedIn(preconditions)
    const all = [...Object.values(key), ...values]
    const where = expected === null ? has(key) : `${has(key)} AND version::text = ANY($${all.push(expected)}::text[])`
    const row = await run(rows, `${action} WHERE ${where} RETURNING ${columns}`, all)
    if (row !== undefined) return row
    const now = found(await select(rows, key))
    throw preconditions?.failed(versionOf(now)) ?? rowMissing()
  }

  async function update(rows: Statements, key: Key, changes: Values<Row>, preconditions?: Preconditions) {
    const set = written(changes)
    if (set.columns.length === 0) return lock(rows, key, preconditions)
    const first = Object.keys(key).length + 1
    const assignments = set.columns.map((column, index) => `${column} = $${first + index}`).join(', ')
    return change(rows, `UPDATE ${from} SET ${assignments}`, key, set.values, preconditions)
  }

  async function put(rows: Statements, key: Key, whole: Values<Row>, preconditions: Preconditions) {
    const { createOnly } = preconditions
    if (!createOnly && preconditions.versions() !== null) return { row: await update(rows, key, whole, preconditions), isCreated: false }
    const replaced = written(whole)
      .columns.map((column) => `${column} = excluded.${column}`)
      .join(', ')
    const conflict = `ON CONFLICT (${written(key).columns.join(', ')}) DO ${createOnly ? 'NOTHING' : `UPDATE SET ${replaced}`}`
    const { columns: into, values } = written({ ...whole, ...key })
    // Only a row that the statement itself has inserted was never locked.
    const statement = `INSERT INTO ${from} ${valuesFor(into)} ${conflict} RETURNING ${columns}, xmax = 0 AS "isCreated"`
    const put = await run<Row & { readonly isCreated: boolean }>(rows, statement, values)
    if (put === undefined) throw preconditions.failed(versionOf(found(await select(rows, key))))
    const { isCreated, ...row } = put
    return { row: row as object as Row, isCreated }
  }

  return {
    columns,
    find: async (rows, key) => select(rows, key),
    lock,
    async insert(rows, given) {
      const { columns: into, values } = written(given)
      return found(await run(rows, `INSERT INTO ${from} ${valuesFor(into)} RETURNING ${columns}`, values))
    },
    update,
    put,
    delete: (rows, key, preconditions) => change(rows, `DELETE FROM ${from}`, key, [], preconditions)
  }
}

// A column that is only converted to other types: born_on::text.
const conversion = /^\(\s*("(?:[^"]|"")+"|[a-z_]\w*)(?:\s*::\s*\w+(?:\(\d+(?:,\s*\d+)?\))?(?:\[\])*)*\s*\)$/i

interface Written {
  readonly columns: readonly string[]
  readonly values: readonly unknown[]
}

function valuesFor(columns: readonly string[]) {
  return `(${columns.join(', ')}) VALUES (${columns.map((_, index) => `$${index + 1}`).join(', ')})`
}

function expectedIn(preconditions: Preconditions | undefined): ExpectedVersions {
  return preconditions === undefined ? null : expectedVersions(preconditions)
}

function versionOf(row: object) {
  return (row as { readonly version?: string | number }).version
}

function snakeCase(name: string) {
  return name.replaceAll(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`).replaceAll('-', '_')
}

function quoted(name: string) {
  return `"${name.replaceAll('"', '""')}"`
}
