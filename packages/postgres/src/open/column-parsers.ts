import { parse as parseArray } from 'postgres-array'

/** Makes a value from the text of PostgreSQL. */
export type ColumnParser = (text: string) => unknown

/** The parsers of the columns of a database, by the oid of their type. */
export interface ColumnParsers {
  /** Returns the parser of a type, which for an array must have been read. */
  of(oid: number): ColumnParser
  /** Reads the types of the database once, and returns the parsers of arrays. Throws a `TypeError` for a database that cannot store every text. */
  read(query: (sql: string) => Promise<{ readonly rows: readonly unknown[] }>): Promise<ReadonlyMap<number, ColumnParser>>
}

interface Catalog {
  readonly encoding: string
  readonly types: readonly (readonly [oid: number, array: number, base: number])[]
}

// All types that have arrays, except `box`, whose delimiter is not a comma.
const catalogSql =
  "SELECT current_setting('server_encoding') AS encoding, json_agg(json_build_array(oid::bigint, typarray::bigint, typbasetype::bigint)) AS types FROM pg_catalog.pg_type WHERE typarray <> 0 AND typdelim = ','"

/** The parsers of the types whose values PGlite or this package does not return as the text of PostgreSQL, by oid. */
export const scalars: Readonly<Record<number, ColumnParser>> = {
  16: (text) => text === 't',
  17: bytesOf,
  20: wholeNumber,
  21: Number,
  23: Number,
  26: Number,
  114: jsonOf,
  700: Number,
  701: Number,
  1020: asText,
  1082: asText,
  1114: isoTime,
  1184: isoTime,
  1186: isoDuration,
  3802: jsonOf
}

/** Returns the parsers of a database: PostgreSQL and PGlite return the same values with them, in every time zone. */
export function columnParsers(): ColumnParsers {
  let known: ReadonlyMap<number, ColumnParser> | undefined
  return {
    of: (oid) => known?.get(oid) ?? scalars[oid] ?? asText,
    async read(query) {
      if (known !== undefined) return known
      const [{ encoding, types }] = (await query(catalogSql)).rows as [Catalog]
      if (encoding !== 'UTF8')
        throw new TypeError(
          `postgres: the encoding of the database is ${encoding}, which does not have every character. Create the database with ENCODING 'UTF8'.`
        )
      return (known = arrayParsers(types))
    }
  }
}

function asText(text: string): string {
  return text
}

// The items of an array have the form of a column of their type, and the values of a domain that of the type that it restricts.
function arrayParsers(types: Catalog['types']): ReadonlyMap<number, ColumnParser> {
  const bases = new Map(types.map(([oid, , base]) => [oid, base]))
  const parserOf = (oid: number): ColumnParser => {
    const base = bases.get(oid) ?? 0
    return base === 0 ? (scalars[oid] ?? asText) : parserOf(base)
  }
  return new Map(types.map(([oid, array]) => [array, (text: string) => parseArray(text, parserOf(oid))]))
}

function wholeNumber(text: string): number | bigint {
  const value = Number(text)
  return Number.isSafeInteger(value) ? value : BigInt(text)
}

// With the setting `bytea_output = escape`, a byte is its character, or its octal digits.
function bytesOf(text: string): Buffer {
  if (text.startsWith('\\x')) return Buffer.from(text.slice(2), 'hex')
  const characters = text.replace(/\\(\\|[0-7]{3})/g, (_, code: string) =>
    code === '\\' ? code : String.fromCharCode(Number.parseInt(code, 8))
  )
  return Buffer.from(characters, 'latin1')
}

// In ECMAScript 2026, which the types of TypeScript lack.
type Reviver = (name: string, value: unknown, context: { readonly source: string }) => unknown
const parseJson = JSON.parse as (text: string, reviver: Reviver) => unknown

// An integer beyond 2^53 - 1 is a bigint, as in a column.
function jsonOf(text: string): unknown {
  if (!/\d{16}/.test(text)) return JSON.parse(text)
  return parseJson(text, (_, value, { source }) => (typeof value === 'number' && /^-?\d+$/.test(source) ? wholeNumber(source) : value))
}

const time = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?(?:([+-])(\d\d)(?::(\d\d))?(?::(\d\d))?)?$/

/**
 * Returns a time in UTC, with three decimal places of a second, or six if it has more than three. A time without a zone is in UTC. What RFC 3339 cannot
 * express stays as it is: infinity, and the years before 1 and after 9999.
 */
function isoTime(text: string): string {
  const [, day, clock, decimals = '', sign, hours = '', minutes = '0', seconds = '0'] = time.exec(text) ?? []
  if (day === undefined || clock === undefined) return text
  const fraction = decimals.padEnd(decimals.length > 3 ? 6 : 3, '0')
  // A session in UTC, as those of openDatabase are, needs no Date. Zones before the zone laws have seconds: +01:16:08.
  const offset = sign === undefined ? 0 : Number(`${sign}1`) * (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds))
  if (offset === 0) return `${day}T${clock}.${fraction}Z`
  const inUtc = new Date(Date.parse(`${day}T${clock}Z`) - offset * 1000).toISOString()
  return /^(?!0000)\d{4}-/.test(inUtc) ? `${inUtc.slice(0, 19)}.${fraction}Z` : text
}

const units = String.raw`^(?:([+-]?\d+) years? ?)?(?:([+-]?\d+) mons? ?)?(?:([+-]?\d+) days? ?)?`
const interval = new RegExp(String.raw`${units}(?:([+-]?)(\d+):(\d\d):(\d\d(?:\.\d+)?))?$`)

/**
 * Returns an interval in ISO 8601, as PostgreSQL writes it with the setting `intervalstyle = iso_8601`. Infinity, and the text of other settings than
 * this and the default, stay as they are.
 */
function isoDuration(text: string): string {
  const [all, years, months, days, sign = '', hours, minutes, seconds] = interval.exec(text) ?? []
  if (all === undefined) return text
  const day = part(years, 'Y') + part(months, 'M') + part(days, 'D')
  const clock = part(sign + (hours ?? '0'), 'H') + part(sign + (minutes ?? '0'), 'M') + part(sign + (seconds ?? '0'), 'S')
  return clock === '' && day !== '' ? `P${day}` : `P${day}T${clock || '0S'}`
}

function part(digits = '0', unit = ''): string {
  return Number(digits) === 0 ? '' : `${Number(digits)}${unit}`
}
