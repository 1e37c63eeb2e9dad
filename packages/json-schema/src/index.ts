export { draft7Of } from './draft-7.ts'
export { parseExactly } from './exact-json.ts'
export { isObject, type JsonSchema, losesDigits, pointerSteps, type SchemaReference, splitReference, valueAt } from './json-schema.ts'
export { SchemaGraph, type SchemaPlace } from './schema-graph.ts'
export { secretKeyword } from './secret.ts'
export {
  type InputOf,
  isStandardSchema,
  jsonSchemaOf,
  libraryDefault,
  type OutputOf,
  requireJsonSchema,
  type SchemaSide,
  type StandardIssue,
  type StandardResult,
  type StandardSchema,
  withJsonSchema
} from './standard-schema.ts'
