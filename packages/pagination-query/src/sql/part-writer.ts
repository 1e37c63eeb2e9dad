import { exactNumber } from '../list/exact-number.ts'
import type { FieldForm } from '../list/field-form.ts'
import type { ListQuery } from '../list/list-query.ts'
import type { ColumnType, ColumnValues } from './column-values.ts'

/**
 * Writes rows as JSON, separated by commas, from the parts of a page: for each row `stride` texts, first the bits of its texts that are NULL. Returns
 * undefined if a value has a form that only its driver and the serializer know.
 */
export type PartWriter = (parts: readonly string[], stride: number, start: number, step: number, count: number) => string | undefined

/** What the parts of a field contain, and where they are. */
export interface FieldPart {
  readonly field: string
  readonly kind: 'time' | ColumnType
  /** The place among the parts of a row. */
  readonly at: number
  /** The place among the bits; undefined for a value that is never an empty text, so that an empty text is NULL. */
  readonly bit: number | undefined
}

/** Returns the parts of the fields of a query, or undefined if a field has none. */
export function fieldParts({ fields, kinds }: ListQuery, values: ColumnValues): FieldPart[] | undefined {
  let bits = 0
  const parts = fields.map((field, index) => {
    const type = kinds?.[field] === 'date-time' ? 'time' : values.typeOf(field)
    // Only a field of dates is selected as text, and only from a column of dates it has the form of a date.
    const kind = (type === 'date') === (kinds?.[field] === 'date') ? type : undefined
    const bit = kind === 'text' || kind === 'padded' ? bits++ : undefined
    return { field, kind, at: index + 1, bit }
  })
  return parts.every((part): part is FieldPart => part.kind !== undefined) ? parts : undefined
}

/** Compiles the writer of the forms, in their order, or returns undefined if a form does not fit the type of its column. */
export function partWriter(
  forms: readonly FieldForm[],
  parts: readonly FieldPart[],
  { read, absent }: ColumnValues
): PartWriter | undefined {
  const sources = forms.map((form, index) =>
    // A client that leaves out columns that are NULL has no null to write.
    fieldSource({ ...form, nullable: form.nullable && absent === null }, parts.find(({ field }) => field === form.name) as FieldPart, index)
  )
  if (!sources.every((source) => source !== undefined)) return undefined
  const body = `return (parts, stride, start, step, count) => {
    let text = ''
    let value
    for (let done = 0, row = start * stride; done < count; done += 1, row += step * stride) {
      const bits = parts[row]
      text += done === 0 ? '{' : ',{'
      ${sources.join('\n')}
      text += '}'
    }
    return text
  }`
  const choices = forms.map(({ choices }) => choices && new Map(choices.map((choice) => [choice, JSON.stringify(choice)])))
  // Every name in the source comes from a schema of the service, through JSON.stringify. Fastify compiles schemas this way too.
  // oxlint-disable-next-line typescript/no-implied-eval
  return new Function('choices', 'timeText', 'dateText', 'numberText', 'wholeText', body)(
    choices,
    timeText,
    dateText,
    numberText,
    read.large === Number ? safeText : (text: string) => text
  ) as PartWriter
}

// The identifier is the first member, and always present.
function fieldSource({ name, type, choices, required, nullable }: FieldForm, { kind, at, bit }: FieldPart, index: number) {
  const source = valueSource(type, kind, choices && `choices[${index}]`)
  if (source === undefined) return undefined
  const start = JSON.stringify(`${index === 0 ? '' : ','}${JSON.stringify(name)}:`)
  const isAbsent = bit === undefined ? "value === ''" : `bits.charCodeAt(${bit}) === 116`
  const absent = nullable ? `text += ${start} + 'null'` : required || index === 0 ? 'return undefined' : ''
  const { code, mayFail } = source
  const write = mayFail ? `if ((value = ${code}) === undefined) return undefined\ntext += ${start} + value` : `text += ${start} + ${code}`
  return `value = parts[row + ${at}]\nif (${isAbsent}) { ${absent} } else { ${write} }`
}

function valueSource(
  type: FieldForm['type'],
  kind: FieldPart['kind'],
  choices: string | undefined
): { code: string; mayFail: boolean } | undefined {
  if (choices !== undefined) return kind === 'text' ? { code: `${choices}.get(value)`, mayFail: true } : undefined
  switch (`${type} ${kind}`) {
    case 'string text':
    case 'string padded':
      return { code: 'JSON.stringify(value)', mayFail: false }
    case 'string uuid':
    case 'string exact':
    case 'string large':
      return { code: `'"' + value + '"'`, mayFail: false }
    case 'string time':
      return { code: 'timeText(value)', mayFail: true }
    case 'string date':
      return { code: 'dateText(value)', mayFail: true }
    case 'string whole':
    case 'integer whole':
    case 'number whole':
      return { code: type === 'string' ? `'"' + value + '"'` : 'value', mayFail: false }
    case 'integer large':
      return { code: 'wholeText(value)', mayFail: true }
    case 'integer exact':
    case 'number exact':
    case 'number large':
      return { code: `numberText(${JSON.stringify(type)}, value)`, mayFail: true }
    case 'number real':
      return { code: `numberText('number', Number(value))`, mayFail: true }
    case 'boolean truth':
      return { code: `(value === 't' ? 'true' : 'false')`, mayFail: false }
    default:
      return undefined
  }
}

// A driver that returns numbers has rounded the others already.
function safeText(text: string) {
  return text.length < 16 || Number.isSafeInteger(Number(text)) ? text : undefined
}

function numberText(type: 'integer' | 'number', value: string | number) {
  const exact = exactNumber(type, value)
  return exact === undefined ? undefined : String(exact)
}

const date = /^\d{4}-\d\d-\d\d$/

// In another DateStyle of the session, dates and times have other forms. Some have other forms in any: infinity, and years before 1 and after 9999.
function dateText(value: string) {
  return date.test(value) ? `"${value}"` : undefined
}

function timeText(value: string) {
  const time = isoTime(value)
  return time === undefined ? undefined : `"${time}"`
}

// PostgreSQL writes 2026-01-31 12:00:00.5, without trailing zeros. In responses, a time has three or six decimal places of a second.
function isoTime(value: string): string | undefined {
  const { length } = value
  const isIso =
    value.charCodeAt(4) === hyphen &&
    value.charCodeAt(7) === hyphen &&
    value.charCodeAt(10) === space &&
    (length === 19 || (value.charCodeAt(19) === point && length > 20 && length < 27 && value.charCodeAt(length - 1) <= nine))
  if (!isIso) return undefined
  const fraction =
    length === 19 ? '.000' : length === 23 || length === 26 ? value.slice(19) : value.slice(19).padEnd(length < 23 ? 4 : 7, '0')
  return `${value.slice(0, 10)}T${value.slice(11, 19)}${fraction}Z`
}

const [hyphen, space, point, nine] = [45, 32, 46, 57]

/** Returns the function that makes the object of a row from its parts, as the driver would. All parts have been written. */
export function rowReader(
  { numberTexts }: ListQuery,
  parts: readonly FieldPart[],
  { read, absent }: ColumnValues
): (texts: readonly string[], row: number) => object {
  return (texts, row) => {
    const bits = texts[row] as string
    const members = parts.map(({ field, kind, at, bit }) => {
      const text = texts[row + at] as string
      const isAbsent = bit === undefined ? text === '' : bits[bit] === 't'
      if (isAbsent) return [field, absent]
      return [field, kind === 'time' ? isoTime(text) : numberTexts?.has(field) ? text : read[kind](text)]
    })
    return Object.fromEntries(members) as object
  }
}
