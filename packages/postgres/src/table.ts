import { describeOptions, flag, type OptionsOf, value } from '@concordat/plugin-kit/options'
import { rowDeleted, rowInUse, rowNotDeleted, valueTaken } from './connections/errors.ts'
import type { DeletableTable } from './removal.ts'
import { found, type Statements, type Versioned } from './rows.ts'
import { quoted, snakeCase, type TableCollection, type TableColumn, tableColumns } from './table-columns.ts'
import { type Preconditions, rowStatements, versionOf } from './table-rows.ts'

export type { DeletableTable, RemovalOptions } from './removal.ts'
export { removeDeleted } from './removal.ts'

/** The description of {@link TableOptions}. @readme */
export const tableOptions = describeOptions('postgres', {
  /** Whether the table has a column `version` that is new with every write, for example by a trigger. */
  hasVersion: flag({ default: true }),
  /**
   * The columns of fields, as in `runSql`, where they are not the names of the fields in snake case. SQL, such as `{ sql: 'born_on::text', column:
   * 'born_on' }`, can be written with the column that it reads. A name that is not a field is a column that keys may have.
   */
  columns: value<Readonly<Record<string, TableColumn>>>({ default: {}, names: { '*': { sql: true, column: true } } }),
  /** The errors of writes that violate a constraint, by its name: `{ books_author_id_fkey: () => errors.create('UNKNOWN_AUTHOR') }`. */
  violations: value<Readonly<Record<string, () => Error>>>({ default: {} })
})

/** Options of {@link table}. */
export interface TableOptions extends OptionsOf<typeof tableOptions> {}
type OptionsFor<Column extends string> = TableOptions & { readonly columns?: Readonly<Record<Column, TableColumn>> | undefined }

type KeyValue<Value> = NonNullable<Value> | ([Value] extends [NonNullable<Value>] ? never : null)
type AtLeastOne<Values> = { [Name in keyof Values]-?: Pick<Values, Name> & Partial<Values> }[keyof Values]
/**
 * The values that select a row, at least one, by field or by a name in `columns`: `{ id }`. Null, where a field can be absent, selects rows without a
 * value. They come from the service, which validates them.
 */
export type TableKey<Row, Column extends string = never> = AtLeastOne<
  { readonly [Field in keyof Row]-?: KeyValue<Row[Field]> } & { readonly [Name in Column]: unknown }
>
/** The values to write. `null` removes a value, and a field that is undefined stays. */
type Values<Row> = { readonly [Field in keyof Row]?: Row[Field] | null | undefined }

/**
 * The SQL of a table. Each function is one statement, on a database or in the transaction of a request. With `preconditions`, a write applies only to
 * the versions that the client expects: otherwise it throws 412, and 404 `RESOURCE_NOT_FOUND` when no row has the key.
 */
export interface Table<Row extends object, Column extends string = never> extends DeletableTable {
  /** The columns for `SELECT` and `RETURNING` of other statements, with the names of the fields. */
  readonly columns: string
  /** Returns the row. With `deleted`, it is one that was deleted and can be restored. */
  find(rows: Statements, key: TableKey<Row, Column>, options?: { readonly deleted?: boolean | undefined }): Promise<Row | undefined>
  /** Returns the row and locks it until the transaction ends. */
  lock(rows: Statements, key: TableKey<Row, Column>, preconditions?: Preconditions): Promise<Row>
  insert(rows: Statements, values: Values<Row>): Promise<Row>
  /** Changes the fields that are given. Without any, the row stays as it is. */
  update(rows: Statements, key: TableKey<Row, Column>, changes: Values<Row>, preconditions?: Preconditions): Promise<Row>
  /** Replaces the row, or creates it. With `If-None-Match: *`, it only creates. */
  put(
    rows: Statements,
    key: TableKey<Row, Column>,
    values: Values<Row>,
    preconditions: Preconditions
  ): Promise<{ readonly row: Row; readonly isCreated: boolean }>
  /**
   * Returns the row that was deleted. In a collection with `deleted`, it stays with the time, and other functions no longer find it. Throws 409 `RESOURCE_IN_USE` when other rows reference it, unless `violations` has an error of its own.
   */
  delete(rows: Statements, key: TableKey<Row, Column>, preconditions?: Preconditions): Promise<Row>
  /**
   * Restores a deleted row of a collection with `deleted`. Throws 409 `RESOURCE_NOT_DELETED` for a row that is not deleted, and 409
   * `RESOURCE_VALUE_TAKEN` when another row has its unique value now, unless `violations` has an error of its own.
   */
  restore(rows: Statements, key: TableKey<Row, Column>, preconditions?: Preconditions): Promise<Row>
}

/**
 * Returns the SQL of the table of a collection: its name, and the fields as columns, both in snake case. Throws a `TypeError` for values of other fields,
 * so that a client cannot write a column that the collection does not show.
 *
 * @example
 * const books = table(bookCollection)
 * const book = await books.update(statementsOn(request.transaction), { id: request.params.id }, request.body, request.preconditions)
 */
export function table<Row extends object, Column extends string = never>(
  collection: TableCollection<Row>,
  options: OptionsFor<Column> & { readonly hasVersion: false }
): Table<Row, Column>
export function table<Row extends object, Column extends string = never>(
  collection: TableCollection<Row>,
  options?: OptionsFor<Column>
): Table<Versioned<Row>, Column>
export function table<Row extends object>(collection: TableCollection<Row>, options: TableOptions = {}): Table<Row> {
  const { hasVersion, columns: special, violations } = tableOptions.read(options)
  const from = quoted(snakeCase(collection.name))
  const { columns, has, requireWhole, written, deletedAt } = tableColumns(collection, special, hasVersion)

  const { run, select, lock, change } = rowStatements<Row>(from, columns, has, violations)

  async function update(rows: Statements, key: object, changes: Values<Row>, preconditions?: Preconditions) {
    const set = written(changes)
    if (set.columns.length === 0) return lock(rows, key, preconditions)
    const assignments = (first: number) => set.columns.map((column, index) => `${column} = $${first + index}`).join(', ')
    return change(rows, key, (first) => `UPDATE ${from} SET ${assignments(first)}`, set.values, preconditions)
  }

  async function put(rows: Statements, key: object, whole: Values<Row>, preconditions: Preconditions) {
    const { createOnly } = preconditions
    if (!createOnly && preconditions.versions() !== null) return { row: await update(rows, key, whole, preconditions), isCreated: false }
    requireWhole(key)
    const replaced = written(whole)
      .columns.map((column) => `${column} = excluded.${column}`)
      .join(', ')
    const isAlive = deletedAt === undefined ? '' : ` WHERE ${from}.${deletedAt} IS NULL`
    const conflict = `ON CONFLICT (${written({}, key).columns.join(', ')}) DO ${createOnly ? 'NOTHING' : `UPDATE SET ${replaced}${isAlive}`}`
    const { columns: into, values } = written(whole, key)
    // Only a row that the statement itself has inserted was never locked.
    const statement = `INSERT INTO ${from} ${valuesFor(into)} ${conflict} RETURNING ${columns}, xmax = 0 AS "isCreated"`
    const put = await run<Row & { readonly isCreated: boolean }>(rows, statement, values)
    if (put === undefined) {
      const now = await select(rows, key)
      throw now === undefined && deletedAt !== undefined ? rowDeleted() : preconditions.failed(versionOf(found(now)))
    }
    const { isCreated, ...row } = put
    return { row: row as object as Row, isCreated }
  }

  const { name, deleted } = collection
  return {
    columns,
    deletion: deletedAt === undefined ? undefined : { collection: name, from, column: deletedAt, keepDays: deleted?.keepDays },
    find: async (rows, key, { deleted: isDeleted } = {}) => select(rows, key, { isDeleted: isDeleted === true && deletedAt !== undefined }),
    lock,
    async insert(rows, given) {
      const { columns: into, values } = written(given)
      return found(await run(rows, `INSERT INTO ${from} ${valuesFor(into)} RETURNING ${columns}`, values))
    },
    update,
    put,
    async delete(rows, key, preconditions) {
      try {
        const action = deletedAt === undefined ? `DELETE FROM ${from}` : `UPDATE ${from} SET ${deletedAt} = now()`
        return await change(rows, key, () => action, [], preconditions)
      } catch (error) {
        throw referenced.has(codeOf(error)) ? rowInUse(error) : error
      }
    },
    async restore(rows, key, preconditions) {
      if (deletedAt === undefined)
        throw new TypeError(`postgres: table "${collection.name}" has no rows to restore. Declare its collection with deleted.`)
      try {
        return await change(rows, key, () => `UPDATE ${from} SET ${deletedAt} = NULL`, [], preconditions, true)
      } catch (error) {
        if (codeOf(error) === '23505') throw valueTaken(error)
        throw codeOf(error) === 'RESOURCE_NOT_FOUND' && (await select(rows, key)) !== undefined ? rowNotDeleted() : error
      }
    }
  }
}

// The SQLSTATEs of a foreign key: PostgreSQL 18 has one of its own for ON DELETE RESTRICT.
const referenced: ReadonlySet<unknown> = new Set(['23503', '23001'])

function codeOf(error: unknown) {
  return (error as { readonly code?: unknown }).code
}

function valuesFor(columns: readonly string[]) {
  return `(${columns.join(', ')}) VALUES (${columns.map((_, index) => `$${index + 1}`).join(', ')})`
}
