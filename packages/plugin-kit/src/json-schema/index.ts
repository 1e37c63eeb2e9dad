export { hasDateYear } from './date-year.ts'
export { draft7Of, sharedFor } from './draft-7.ts'
export { losesDigits, parseExactly, stringifyExactly } from './exact-json.ts'
export {
  isObject,
  type JsonSchema,
  pointerOf,
  pointerSteps,
  secretKeyword,
  splitReference,
  targetWithin,
  typeOfJson,
  valueAt
} from './json-schema.ts'
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
