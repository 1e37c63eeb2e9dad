/** A type of a column, with texts that PostgreSQL accepts for it and the values that `openDatabase` returns for them. */
export interface ColumnCase {
  readonly type: string
  readonly values: readonly (readonly [text: string, value: unknown])[]
  /** The JSON Schema of a value in a response, for values that JSON has. */
  readonly schema: Readonly<Record<string, unknown>>
}

/** Creates the types of the service in {@link columnCases}. */
export const createTypes: readonly string[] = [
  "CREATE TYPE mood AS ENUM ('calm', 'so so', '{odd}', 'NULL')",
  'CREATE DOMAIN percent AS numeric(5, 2) CHECK (VALUE BETWEEN 0 AND 100)',
  'CREATE DOMAIN birthday AS date',
  "CREATE DOMAIN late_birthday AS birthday CHECK (VALUE > '1900-01-01')"
]

const text = { type: 'string' }
const day = { type: 'string', format: 'date' }
const moment = { type: 'string', format: 'date-time' }
const whole = { type: 'integer' }
const long = { type: 'string', format: 'int64' }
const number = { type: 'number' }
const decimal = { type: 'string', format: 'decimal' }
const same = (...texts: string[]): [string, string][] => texts.map((one) => [one, one])

const scalars: readonly ColumnCase[] = [
  {
    type: 'smallint',
    schema: whole,
    values: [
      ['0', 0],
      ['-32768', -32768],
      ['32767', 32767]
    ]
  },
  {
    type: 'integer',
    schema: whole,
    values: [
      ['0', 0],
      ['-2147483648', -2147483648],
      ['2147483647', 2147483647]
    ]
  },
  {
    type: 'bigint',
    schema: long,
    values: [
      ['0', 0],
      ['9007199254740991', 9007199254740991],
      ['-9007199254740991', -9007199254740991],
      ['9007199254740992', 9007199254740992n],
      ['9007199254740993', 9007199254740993n],
      ['-9223372036854775808', -9223372036854775808n],
      ['9223372036854775807', 9223372036854775807n]
    ]
  },
  { type: 'numeric', schema: decimal, values: same('0', '0.10', '-12.50', '123456789012345678901234567890.123456789', '1000000') },
  { type: 'numeric(8, 3)', schema: decimal, values: same('0.000', '12345.678', '-12345.670') },
  {
    type: 'real',
    schema: number,
    values: [
      ['0', 0],
      ['0.1', 0.1],
      ['16777216', 16777216],
      ['-3.4028235e+38', -3.4028235e38]
    ]
  },
  {
    type: 'double precision',
    schema: number,
    values: [
      ['0', 0],
      ['0.1', 0.1],
      ['1.7976931348623157e+308', 1.7976931348623157e308],
      ['5e-324', 5e-324],
      ['-1e-7', -1e-7]
    ]
  },
  {
    type: 'boolean',
    schema: { type: 'boolean' },
    values: [
      ['true', true],
      ['false', false]
    ]
  },
  {
    type: 'text',
    schema: text,
    values: same(
      '',
      'a',
      ' ',
      'NULL',
      'null',
      '{a,b}',
      '"',
      '\\',
      "it's",
      'ñandú',
      '\ufeffTea',
      '\ufeff',
      'a\ufeff',
      '👩‍🚀',
      '\u0001\u001f',
      'line\nline\ttab',
      '2024-02-30',
      't',
      '\\x00'
    )
  },
  { type: 'varchar(20)', schema: text, values: same('', 'a ', '\ufeffTea', '{}') },
  {
    type: 'char(4)',
    schema: text,
    values: [
      ['ab', 'ab  '],
      ['', '    '],
      ['\ufeffabc', '\ufeffabc']
    ]
  },
  {
    type: 'uuid',
    schema: { type: 'string', format: 'uuid' },
    values: same('00000000-0000-0000-0000-000000000000', '018f4e2a-7c1b-7d3e-9a5f-0123456789ab')
  },
  {
    type: 'date',
    schema: day,
    values: same('1990-01-01', '2024-02-29', '0001-01-01', '9999-12-31', '1582-10-10', '2011-12-30', '1994-12-31')
  },
  { type: 'time', schema: text, values: same('00:00:00', '23:59:59.999999', '12:30:00.5', '24:00:00') },
  { type: 'timetz', schema: text, values: same('00:00:00+00', '23:59:59.999999-05:30', '12:00:00+14') },
  {
    type: 'timestamp',
    schema: moment,
    values: [
      ['1990-01-01 12:00:00', '1990-01-01T12:00:00.000Z'],
      // Clocks in Madrid skip this hour, and repeat the next one in autumn.
      ['2024-03-31 02:30:00', '2024-03-31T02:30:00.000Z'],
      ['2024-10-27 02:30:00.5', '2024-10-27T02:30:00.500Z'],
      ['1800-01-01 00:00:00', '1800-01-01T00:00:00.000Z'],
      ['0001-01-01 00:00:00', '0001-01-01T00:00:00.000Z'],
      ['9999-12-31 23:59:59.999999', '9999-12-31T23:59:59.999999Z']
    ]
  },
  {
    type: 'timestamptz',
    schema: moment,
    values: [
      ['1990-01-01 12:00:00+02', '1990-01-01T10:00:00.000Z'],
      ['2024-03-31 00:30:00Z', '2024-03-31T00:30:00.000Z'],
      ['2024-10-27 01:30:00.123456Z', '2024-10-27T01:30:00.123456Z'],
      ['1800-01-01 00:00:00Z', '1800-01-01T00:00:00.000Z'],
      ['1850-06-01 00:00:00.5 Europe/Madrid', '1850-06-01T00:14:44.500Z'],
      ['0001-01-01 00:00:00Z', '0001-01-01T00:00:00.000Z'],
      ['9999-12-31 23:59:59.999999Z', '9999-12-31T23:59:59.999999Z']
    ]
  },
  {
    type: 'interval',
    schema: text,
    values: [
      ['0', 'PT0S'],
      ['P1Y2M3DT4H5M6S', 'P1Y2M3DT4H5M6S'],
      ['1 day', 'P1D'],
      ['90 minutes', 'PT1H30M'],
      ['0.25 seconds', 'PT0.25S'],
      ['-1.5 seconds', 'PT-1.5S'],
      ['-1 year +2 days -03:00:00.000001', 'P-1Y2DT-3H-0.000001S'],
      ['1 month -1 day', 'P1M-1D']
    ]
  },
  {
    type: 'bytea',
    schema: text,
    values: [
      ['', Buffer.alloc(0)],
      ['\\x00ff5c27', Buffer.from([0, 255, 92, 39])],
      ['\\xefbbbf', Buffer.from([0xef, 0xbb, 0xbf])]
    ]
  },
  {
    type: 'json',
    schema: {},
    values: [
      ['{"a": [1, "x", null], "b": 0.1}', { a: [1, 'x', null], b: 0.1 }],
      ['{"n": 9007199254740993, "s": "9007199254740993"}', { n: 9007199254740993n, s: '9007199254740993' }],
      ['"\ufeff"', '\ufeff']
    ]
  },
  {
    type: 'jsonb',
    schema: {},
    values: [
      ['{"a": [1, "x", null], "b": 0.1}', { a: [1, 'x', null], b: 0.1 }],
      ['{"n": 9007199254740993}', { n: 9007199254740993n }],
      ['true', true]
    ]
  },
  { type: 'inet', schema: text, values: same('10.0.0.1', '10.0.0.0/8', '::1', '2001:db8::/32') },
  { type: 'cidr', schema: text, values: same('10.0.0.0/8', '2001:db8::/32') },
  { type: 'macaddr', schema: text, values: same('08:00:2b:01:02:03') },
  { type: 'mood', schema: { type: 'string', enum: ['calm', 'so so', '{odd}', 'NULL'] }, values: same('calm', 'so so', '{odd}', 'NULL') },
  { type: 'percent', schema: decimal, values: same('0.00', '99.50', '100.00') },
  { type: 'birthday', schema: day, values: same('1990-01-01') },
  { type: 'late_birthday', schema: day, values: same('1990-01-01') },
  { type: 'int4range', schema: text, values: same('[1,5)', 'empty', '(,)', '[1,)') },
  { type: 'daterange', schema: text, values: same('[1990-01-01,1990-02-01)') },
  { type: 'point', schema: text, values: same('(1.5,-2)', '(0,0)') },
  { type: 'money', schema: text, values: same('$12.50') },
  { type: 'bit(3)', schema: text, values: same('101') },
  { type: 'xml', schema: text, values: same('<a>b</a>') },
  { type: 'tsvector', schema: text, values: same("'a':1 'cat':2") }
]

/** The types that services use, with edge values, and the arrays of each. */
export const columnCases: readonly ColumnCase[] = [
  ...scalars.flatMap((one) => [one, arrayCase(one)]),
  { type: 'box', schema: text, values: same('(2,2),(0,0)') },
  // The only type whose arrays have another delimiter, so that PostgreSQL returns a text.
  { type: 'box[]', schema: text, values: same('{(2,2),(0,0);(1,1),(0,0)}') }
]

// PostgreSQL writes the array itself, so that the test does not.
function arrayCase({ type, schema, values }: ColumnCase): ColumnCase {
  return {
    type: `${type}[]`,
    schema: { type: 'array', items: schema },
    values: [
      [arrayText(values.map(([one]) => one)), values.map(([, value]) => value)],
      ['{}', []]
    ]
  }
}

function arrayText(items: readonly string[]) {
  return `{${items.map((item) => `"${item.replaceAll(/["\\]/g, String.raw`\$&`)}"`).join(',')}}`
}
