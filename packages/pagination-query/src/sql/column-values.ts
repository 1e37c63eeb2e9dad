import type { SqlColumns } from '../declaration/sql-source.ts'
import { type Fragment, fragment, joined, raw } from '../list/fragment.ts'
import type { ListQuery } from '../list/list-query.ts'
import { columnOf } from './columns.ts'
import { listed, type SelectRows } from './page.ts'
import { storedNames, storedSelections } from './parts.ts'

/** How a driver returns the values of the columns of a source: the functions that make them from the text that PostgreSQL sends. */
export interface ColumnValues {
  /** The type of the column of a field, if all its values are known from their text. */
  readonly typeOf: (field: string) => ColumnType | undefined
  readonly read: Readonly<Record<ColumnType, (text: string) => unknown>>
  /** What a column that is NULL has in a row. */
  readonly absent: null | undefined
}

export type ColumnType = 'text' | 'uuid' | 'whole' | 'large' | 'exact' | 'real' | 'truth' | 'date' | 'padded'

// By the oid of the type, or of the type that a domain restricts. An enum has the oid of text.
const typesByOid: Readonly<Record<string, ColumnType>> = {
  16: 'truth',
  20: 'large',
  21: 'whole',
  23: 'whole',
  25: 'text',
  700: 'real',
  701: 'real',
  1042: 'padded',
  1043: 'text',
  1082: 'date',
  1700: 'exact',
  2950: 'uuid'
}

const identity = '018f4e2a-7c1b-7d3e-9a5f-000000000001'
const large = '9007199254740993'
const asText = (text: string) => text

/** Returns the statement that tells the types of the columns, with a value of each type. It reads no row. */
export function columnValuesSql(query: ListQuery, columns: SqlColumns, select: SelectRows): Fragment {
  const nameOf = storedNames(query)
  const oids = query.fields.map(
    (field) =>
      fragment`(select case typtype when 'e' then 25 when 'd' then typbasetype else oid end::text from pg_catalog.pg_type where oid = pg_catalog.pg_typeof(${nameOf(field)}))`
  )
  const samples = `null::text as absent, 'a'::text as words, '${identity}'::uuid as uuid, 7::integer as whole, 7::bigint as small, ${large}::bigint as large, 12.50::numeric as exact, 0.5::float8 as real, true as truth`
  const rows = select(listed(storedSelections(query, columns)), [], fragment`${columnOf(columns, query.id)} limit 0`)
  const types = fragment`${joined(oids, " || ',' || ")} as types, ${raw(samples)}`
  return fragment`select ${types} from (select 1) as one left join ${rows} as page on true`
}

/** Reads the result of the statement. A type whose values this module does not know, because the driver has another parser, is left out. */
export function columnValuesOf({ fields }: ListQuery, [row]: readonly object[]): ColumnValues {
  const sample = row as Readonly<Record<string, unknown>>
  const oids = String(sample['types']).split(',')
  const read = {
    text: sample['words'] === 'a' ? asText : undefined,
    padded: sample['words'] === 'a' ? asText : undefined,
    // Both adapters and drivers return dates as this text.
    date: asText,
    uuid: sample['uuid'] === identity ? asText : undefined,
    whole: sample['whole'] === 7 ? Number : undefined,
    large: largeReader(sample['large'], sample['small']),
    exact: sample['exact'] === '12.50' ? asText : undefined,
    real: sample['real'] === 0.5 ? Number.parseFloat : undefined,
    truth: sample['truth'] === true ? (text: string) => text === 't' : undefined
  } as Record<ColumnType, (text: string) => unknown>
  const types = new Map(fields.map((field, index) => [field, typesByOid[oids[index] as string]]))
  return {
    typeOf: (field) => {
      const type = types.get(field)
      return type !== undefined && read[type] !== undefined ? type : undefined
    },
    read,
    absent: sample['absent'] === null ? null : undefined
  }
}

function largeReader(sample: unknown, small: unknown): ((text: string) => unknown) | undefined {
  if (sample === large) return asText
  if (sample === BigInt(large)) return small === 7 ? safeOrBig : BigInt
  return sample === Number(large) ? Number : undefined
}

// As openDatabase and PGlite do.
function safeOrBig(text: string) {
  return Number.isSafeInteger(Number(text)) ? Number(text) : BigInt(text)
}
