/** A collection of pagination-query, or the name of a table and its fields: `{ name: 'users', fields: new Set(['id', 'role']) }`. */
export interface TableCollection<Row> {
  readonly name: string
  /** The field that identifies a row, which is never null. */
  readonly id?: string | undefined
  readonly fields: Pick<ReadonlyMap<string, unknown>, 'keys' | 'has'>
  /** The type as which the column of a field is read, because the field is a string with a number: with all digits. */
  readonly numberTexts?: ReadonlyMap<string, 'text' | 'text[]'> | undefined
  /** How rows are deleted so that they can be restored. */
  readonly deleted?: { readonly field: string; readonly keepDays?: number | undefined } | undefined
  readonly query?: { readonly row?: Row | undefined } | undefined
}

/** The column of a field: its name, or the SQL that reads it, with the column that writes set and keys compare. */
export type TableColumn = string | { readonly sql: string; readonly column?: string | undefined }

/** The columns of values to write, and the values. */
interface Written {
  readonly columns: readonly string[]
  readonly values: readonly unknown[]
}

/** The condition that a row has a key, and its values, which are the first ones of a statement. */
export interface KeyCondition {
  readonly where: string
  readonly values: readonly unknown[]
}

/** Returns the columns of the fields of a table. */
export function tableColumns(
  collection: Pick<TableCollection<unknown>, 'name' | 'id' | 'fields' | 'numberTexts' | 'deleted'>,
  special: Readonly<Record<string, TableColumn>>,
  hasVersion: boolean
) {
  const names = [...collection.fields.keys(), ...(hasVersion ? ['version'] : [])]
  const columns = names.map((field) => `${readColumnOf(field)}${castOf(field)} AS ${quoted(field)}`).join(', ')
  const known = new Set([...names, ...Object.keys(special)])
  const table = `postgres: table "${collection.name}"`
  const deletedAt = collection.deleted && requiredColumnOf(collection.deleted.field)

  function castOf(field: string) {
    const type = collection.numberTexts?.get(field)
    return type === undefined ? '' : `::${type}`
  }

  function specialOf(field: string) {
    return Object.hasOwn(special, field) ? special[field] : undefined
  }

  function readColumnOf(field: string) {
    const column = specialOf(field)
    return typeof column === 'object' ? `(${column.sql})` : quoted(column ?? snakeCase(field))
  }

  // Returns undefined for SQL without a column.
  function storedColumnOf(field: string) {
    const column = specialOf(field)
    const name = typeof column === 'object' ? column.column : (column ?? snakeCase(field))
    return name === undefined ? undefined : quoted(name)
  }

  /** Returns the condition that a row has the key and is deleted or not: a null is searched for, except in an identifier. */
  function has(key: object, isDeleted = false): KeyCondition {
    const entries = Object.entries(key)
    if (entries.length === 0)
      throw new TypeError(`${table}: the key is empty, which every row would have. Name the field that identifies a row.`)
    const values: unknown[] = []
    const conditions = entries.map(([field, value]) => {
      if (!known.has(field))
        throw new TypeError(`${table} has no column for "${field}" of the key. Remove it, or name its column in options.columns.`)
      if (value === undefined || (value === null && field === collection.id))
        throw new TypeError(
          `${table}: the key has ${value} for "${field}". Pass a value${value === undefined ? ', or null for rows without one' : ''}.`
        )
      const column = storedColumnOf(field) ?? readColumnOf(field)
      return value === null ? `${column} IS NULL` : `${column} = $${values.push(value)}`
    })
    // Without a parameter, so that partial indexes serve it.
    if (deletedAt !== undefined) conditions.push(`${deletedAt} IS ${isDeleted ? 'NOT NULL' : 'NULL'}`)
    return { where: conditions.join(' AND '), values }
  }

  /** Throws a `TypeError` for a key by which no row could be replaced. */
  function requireWhole(key: object) {
    const { values } = has(key)
    if (values.length < Object.keys(key).length)
      throw new TypeError(`${table}: the key of put has a null, which equals no other. Pass a value for each of its fields.`)
  }

  /** Returns the columns and the values of the fields that are given, and of a key, which may have other columns too. */
  function written(given: object, key: object = {}): Written {
    const entries = Object.entries({ ...given, ...key }).filter(([, one]) => one !== undefined)
    if (entries.some(([field]) => field === collection.deleted?.field))
      throw new TypeError(
        `${table}: the field "${collection.deleted?.field}" is written by delete and restore only. Remove it from the values.`
      )
    const columnOf = (field: string) => (Object.hasOwn(key, field) ? requiredColumnOf : writableColumnOf)(field)
    return { columns: entries.map(([field]) => columnOf(field)), values: entries.map(([, one]) => one) }
  }

  function writableColumnOf(field: string) {
    if (!collection.fields.has(field)) throw new TypeError(`${table} has no field "${field}". Remove it from the values.`)
    return requiredColumnOf(field)
  }

  function requiredColumnOf(field: string) {
    const column = storedColumnOf(field)
    if (column !== undefined) return column
    throw new TypeError(
      `${table}: the field "${field}" is the SQL ${readColumnOf(field)}, which cannot be written. Remove it from the values, or set options.columns.${field}.column to the column that it reads.`
    )
  }

  return { columns, has, requireWhole, written, deletedAt }
}

export function snakeCase(name: string) {
  return name.replaceAll(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`).replaceAll('-', '_')
}

export function quoted(name: string) {
  return `"${name.replaceAll('"', '""')}"`
}
