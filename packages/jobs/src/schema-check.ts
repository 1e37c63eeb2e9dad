import { draft7Of } from '@concordat/json-schema'
import { Ajv, type ErrorObject } from 'ajv'
import addFormats from 'ajv-formats'
import type { InputProblem } from './errors.ts'

/** Returns the schema violations in a value. The list is empty when the value matches the schema. */
export type SchemaCheck = (value: unknown) => readonly InputProblem[]

/** Compiles a schema for validation only: no type coercion, no defaults, no removal of properties. */
export function checkOf(schema: object, part: string): SchemaCheck {
  const ajv = new Ajv({ strict: false, allErrors: true })
  addFormats.default(ajv)
  const validate = ajv.compile(draft7Of(schema))
  return (value) => (validate(value) ? [] : (validate.errors ?? []).slice(0, 50).map((error) => problemOf(part, error)))
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
