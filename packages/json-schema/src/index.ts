export { draft7Of } from './draft-7.ts'
export { losesDigits, parseExactly } from './exact-json.ts'
export { isObject, type JsonSchema, pointerSteps, secretKeyword, splitReference, valueAt } from './json-schema.ts'
export { SchemaGraph, type SchemaPlace } from './schema-graph.ts'
export {
  type InputOf,
  isStandardSchema,
  jsonSchemaOf,
  libraryDefault,
  type OutputOf,
  requireJsonSchema,
  type StandardIssue,
  type StandardResult,
  type StandardSchema,
  withJsonSchema
} from './standard-schema.ts'
export { withValueBounds } from './value-bounds.ts'
