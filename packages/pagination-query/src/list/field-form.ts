import type { ValueKind } from './value-text.ts'

/** How a field of a row is written in a response. */
export interface FieldForm {
  readonly name: string
  readonly type: 'string' | 'integer' | 'number' | 'boolean'
  /** The format of a date, or of a time, for which a row may have a `Date`. */
  readonly format: 'date' | 'date-time' | undefined
  /** The only texts that the schema allows, if it lists them. */
  readonly choices: readonly string[] | undefined
  readonly required: boolean
  readonly nullable: boolean
}

/** The fields of a row that are plain values, in the order of the response. Other fields are missing. */
export type RowForm = ReadonlyMap<string, FieldForm>

type Kinds = Readonly<Record<string, ValueKind>>

// By the kinds of a query, because a handler may pass on a copy of the query with other fields or conditions, which has the same kinds.
const forms = new WeakMap<Kinds, RowForm>()

/** Stores the form of the rows that the queries with these kinds read. Only for rows that nothing but the envelope reads before they are sent. */
export function noteRowForm(kinds: Kinds, form: RowForm): void {
  forms.set(kinds, form)
}

/** Returns the form of the rows that a query with these kinds reads, if it is known. */
export function rowFormOf(kinds: Kinds | undefined): RowForm | undefined {
  return kinds && forms.get(kinds)
}

/** Returns the forms of the fields in the order of the response, or undefined if one of the fields is not a plain value. */
export function formsOf(form: RowForm, fields: readonly string[]): readonly FieldForm[] | undefined {
  const asked = new Set(fields)
  const found = [...form.values()].filter(({ name }) => asked.has(name))
  return found.length === asked.size ? found : undefined
}
