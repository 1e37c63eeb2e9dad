import type { ValueKind } from '../list/value-text.ts'
import type { RandomDraw } from './random-draw.ts'

/** A row of the sample for tests of adapters. Long numbers and times are strings. */
export interface SampleRow {
  readonly id: string
  readonly title: string
  readonly status: string
  readonly rating: number | null
  readonly price: string
  readonly createdAt: string
  readonly day: string | null
  readonly views: string
  readonly active: boolean
}

export type SampleField = keyof SampleRow

export const sampleKinds: Readonly<Record<SampleField, ValueKind>> = {
  id: 'uuid',
  title: 'string',
  status: 'enum',
  rating: 'integer',
  price: 'decimal',
  createdAt: 'date-time',
  day: 'date',
  views: 'integer',
  active: 'boolean'
}

export const nullableFields: readonly SampleField[] = ['rating', 'day']

/** Returns the statement that creates the sample table in PostgreSQL. Its strings are in the order of code points. */
export function createSampleTable(name: string): string {
  return `create table ${name} (
    id uuid primary key,
    title text collate "C" not null,
    status text collate "C" not null,
    rating integer,
    price numeric not null,
    created_at timestamptz(6) not null,
    day date,
    views bigint not null,
    active boolean not null
  )`
}

// Few values for each field, so that ties are frequent, and each similar to another value that a faulty adapter confuses with it.
const values = {
  title: ['', 'a', 'A', 'a%b', 'a_b', 'a\\b', 'axb', 'é', 'e\u0301', '\u{1F600}', '\uFFFD', '\u{1F600}z'],
  status: ['open', 'closed', 'held'],
  rating: [null, null, -1, 0, 3, 10],
  price: [
    '12345678901234567890.1',
    '12345678901234567890.2',
    '12345678901234567891',
    '0.1',
    '0.10',
    '0',
    '-0.1',
    '-12345678901234567890.1'
  ],
  day: [null, '1999-12-31', '2024-02-29', '2026-03-29'],
  views: ['9007199254740992', '9007199254740993', '9223372036854775807', '-9007199254740993', '0', '7'],
  active: [true, false]
} as const
const milliseconds = ['2026-03-29T01:30:00.123Z', '2026-03-29T01:30:00.124Z', '2026-03-29T01:30:00Z', '1969-12-31T23:59:59.999Z']
const microseconds = ['2026-03-29T01:30:00.123456Z', '2026-03-29T01:30:00.123457Z', '2026-03-29T01:30:00.1234Z', ...milliseconds]

export type SampleValues = Readonly<Record<Exclude<SampleField, 'id'>, readonly (string | number | boolean | null)[]>>

/** Returns the values from which the rows of the sample are drawn. */
export function sampleValues(finest: 'microseconds' | 'milliseconds'): SampleValues {
  return { ...values, createdAt: finest === 'microseconds' ? microseconds : milliseconds }
}

export function randomRow(draw: RandomDraw, from: SampleValues): SampleRow {
  const members = Object.entries(from).map(([field, choice]) => [field, draw.pick(choice)])
  return { id: draw.uuid(), ...Object.fromEntries(members) }
}
