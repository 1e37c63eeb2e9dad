/** How the fields of a type are written in schemas, SQL and tests. */
export interface FieldType {
  readonly typebox: string
  readonly zod: string
  /** The type of the column. */
  readonly column: string
  /** The operators by which lists are filtered. */
  readonly filter: readonly ('eq' | 'in' | 'gte' | 'lte' | 'prefix')[]
  readonly isSorted: boolean
  /** Two values for tests, the smaller one first. */
  readonly samples: readonly [string, string]
}

const range = ['gte', 'lte'] as const

/** The types of fields, by the name in a specification. The schema of an `enum` is a constant of its own, because it has a list. */
export const fieldTypes: Readonly<Record<string, FieldType>> = {
  string: {
    typebox: 'Type.String({ minLength: 1, maxLength: 120 })',
    zod: 'z.string().min(1).max(120)',
    column: 'text COLLATE "C"',
    filter: ['prefix'],
    isSorted: true,
    samples: ["'First'", "'Second'"]
  },
  text: {
    typebox: 'Type.String({ maxLength: 4000 })',
    zod: 'z.string().max(4000)',
    column: 'text',
    filter: [],
    isSorted: false,
    samples: ["'First'", "'Second'"]
  },
  integer: {
    typebox: 'Type.Integer({ minimum: -2_147_483_648, maximum: 2_147_483_647 })',
    zod: 'z.int32()',
    column: 'integer',
    filter: range,
    isSorted: true,
    samples: ['1', '2']
  },
  bigint: {
    typebox: "Type.String({ format: 'int64', maxLength: 20 })",
    zod: "z.string().max(20).meta({ format: 'int64' })",
    column: 'bigint',
    filter: range,
    isSorted: true,
    samples: ["'9007199254740993'", "'9007199254740995'"]
  },
  decimal: {
    typebox: "Type.String({ format: 'decimal', maxLength: 30 })",
    zod: "z.string().max(30).meta({ format: 'decimal' })",
    column: 'numeric',
    filter: range,
    isSorted: true,
    samples: ["'8.00'", "'12.50'"]
  },
  date: {
    typebox: "Type.String({ format: 'date' })",
    zod: 'z.iso.date()',
    column: 'date',
    filter: range,
    isSorted: true,
    samples: ["'2026-01-31'", "'2026-02-01'"]
  },
  'date-time': {
    typebox: 'Timestamp',
    zod: 'Timestamp',
    column: 'timestamptz(3)',
    filter: range,
    isSorted: true,
    samples: ["'2026-01-31T12:00:00.000Z'", "'2026-02-01T12:00:00.000Z'"]
  },
  boolean: {
    typebox: 'Type.Boolean()',
    zod: 'z.boolean()',
    column: 'boolean',
    filter: ['eq'],
    isSorted: false,
    samples: ['false', 'true']
  },
  uuid: {
    typebox: 'Id',
    zod: 'Id',
    column: 'uuid',
    filter: ['eq'],
    isSorted: false,
    samples: ["'01911062-dc00-7000-8000-000000000001'", "'01911062-dc00-7000-8000-000000000002'"]
  },
  enum: { typebox: '', zod: '', column: 'text COLLATE "C"', filter: ['eq', 'in'], isSorted: false, samples: ['', ''] },
  ref: { typebox: 'Id', zod: 'Id', column: 'uuid', filter: ['eq'], isSorted: false, samples: ['', ''] }
}
