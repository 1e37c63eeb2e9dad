export { isObject, type JsonSchema, pointerSteps, type SchemaReference, splitReference, valueAt } from './json-schema.ts'
