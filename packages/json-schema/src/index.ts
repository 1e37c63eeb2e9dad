export { isObject, type JsonSchema, losesDigits, pointerSteps, type SchemaReference, splitReference, valueAt } from './json-schema.ts'
export {
  type InputOf,
  isStandardSchema,
  jsonSchemaOf,
  type OutputOf,
  requireJsonSchema,
  type SchemaSide,
  type StandardIssue,
  type StandardResult,
  type StandardSchema,
  withJsonSchema
} from './standard-schema.ts'
