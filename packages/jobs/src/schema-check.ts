import { draft7Of, sharedFor } from '@concordat/plugin-kit/json-schema'
import { Ajv, type ErrorObject } from 'ajv'
import addFormats from 'ajv-formats'
import type { InputProblem } from './errors.ts'

/** Returns the schema violations in a value. The list is empty when the value matches the schema. */
export type SchemaCheck = (value: unknown) => readonly InputProblem[]

/**
 * Compiles a schema, which can refer to the `shared` ones by `$id`, for validation only: no type coercion, no defaults, no removal of properties.
 * Throws a `TypeError` of one line that starts with `place` for a schema that cannot be compiled.
 */
export function checkOf(schema: object, part: string, shared: readonly object[], place: string): SchemaCheck {
  const ajv = new Ajv({ strict: false, allErrors: true, logger: false })
  addFormats.default(ajv)
  const validate = compiled(ajv, schema, shared, place)
  return (value) => (validate(value) ? [] : (validate.errors ?? []).slice(0, 50).map((error) => problemOf(part, error)))
}

function compiled(ajv: Ajv, schema: object, shared: readonly object[], place: string) {
  try {
    return ajv.addSchema(Object.values(sharedFor(schema, shared))).compile(draft7Of(schema))
  } catch (error) {
    const { message, missingRef } = error as Error & { readonly missingRef?: string }
    const [reason = ''] = message.split('\n')
    const remedy =
      missingRef === undefined
        ? 'Correct the schema.'
        : 'Define it in $defs of the schema, or add it with app.addSchema() before the job is served.'
    throw new TypeError(`${place} cannot be compiled: ${reason.replace(/\.$/, '')}. ${remedy}`, { cause: error })
  }
}

function problemOf(part: string, { keyword, instancePath, params }: ErrorObject): InputProblem {
  const field = part + instancePath.replaceAll('/', '.')
  const { missingProperty, additionalProperty, type, allowedValues, format, limit } = params
  if (keyword === 'required') return { field: `${field}.${missingProperty}`, key: 'required' }
  if (keyword === 'additionalProperties') return { field: `${field}.${additionalProperty}`, key: 'unknownProperty' }
  if (keyword === 'type') return { field, key: 'type', params: { type: String(type) } }
  if (keyword === 'enum') return { field, key: 'enum', params: { allowed: allowedValues.join(', ') } }
  if (keyword === 'format') return { field, key: 'format', params: { format } }
  if (keyword === 'minimum' || keyword === 'maximum') return { field, key: keyword, params: { limit } }
  return { field, key: 'invalid' }
}
