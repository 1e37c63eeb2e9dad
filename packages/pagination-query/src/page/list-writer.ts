import { hasDateYear } from '@concordat/plugin-kit/json-schema'
import type { FieldForm } from '../list/field-form.ts'

/** Writes rows as a JSON list. Returns undefined if a value does not have exactly the form of its field. */
export type ListWriter = (rows: readonly unknown[]) => string | undefined

/** Compiles the writer for the fields of a list. `JSON.stringify` writes objects of known shape faster than code that concatenates text. */
export function listWriter(forms: readonly FieldForm[]): ListWriter {
  const names = forms.map(({ name }) => JSON.stringify(name))
  const body = `return (rows) => {
    const items = new Array(rows.length)
    for (let at = 0; at < rows.length; at += 1) {
      const row = rows[at]
      ${forms.map((form, index) => valueSource(form, `value${index}`, names[index] as string, `choices[${index}]`)).join('\n')}
      items[at] = { ${names.map((name, index) => `${name}: value${index}`).join(', ')} }
    }
    return JSON.stringify(items)
  }`
  const choices = forms.map(({ choices }) => choices && new Set(choices))
  // Every name in the source comes from a schema of the service, through JSON.stringify. Fastify compiles schemas this way too.
  // oxlint-disable-next-line typescript/no-implied-eval
  return new Function('choices', 'hasDateYear', 'isTime', body)(choices, hasDateYear, isTime) as ListWriter
}

function valueSource({ type, format, choices, required, nullable }: FieldForm, value: string, name: string, known: string) {
  const isRight = {
    string: `typeof ${value} === 'string'${choices ? ` && ${known}.has(${value})` : ''}${format ? ` && hasDateYear(${value})` : ''}${format === 'date-time' ? ` || isTime(${value})` : ''}`,
    integer: `Number.isSafeInteger(${value})`,
    number: `Number.isFinite(${value})`,
    boolean: `typeof ${value} === 'boolean'`
  }[type]
  const start = `let ${value} = row[${name}]`
  // JSON.stringify omits an undefined member. A null that the schema does not allow is omitted too, unless the field is required.
  if (nullable) return `${start}\nif (!(${isRight}) && ${value} !== null${required ? '' : ` && ${value} !== undefined`}) return undefined`
  if (required) return `${start}\nif (!(${isRight})) return undefined`
  return `${start}\nif (${value} === null) ${value} = undefined\nelse if (${value} !== undefined && !(${isRight})) return undefined`
}

// JSON.stringify writes a Date as the serializer does.
function isTime(value: unknown) {
  return value instanceof Date && !Number.isNaN(value.getTime())
}
