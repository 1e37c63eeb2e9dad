import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'

/** What is wrong with a value, as paths and sentences; empty when it is what the schema says. */
export type SchemaCheck = (value: unknown) => { readonly field: string; readonly problem: string }[]

/** Compiles a schema as it was declared: nothing is coerced, filled in or taken out. */
export function checkOf(schema: object, part: string): SchemaCheck {
  const ajv = new Ajv({ strict: false, allErrors: true })
  addFormats.default(ajv)
  const validate = ajv.compile(schema)
  return (value) => {
    if (validate(value)) return []
    return (validate.errors ?? []).slice(0, 50).map(({ instancePath, message = 'is wrong' }) => ({
      field: part + instancePath.replaceAll('/', '.'),
      problem: message
    }))
  }
}
