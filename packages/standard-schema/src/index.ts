export { type StandardSchema, withJsonSchema } from '@concordat/json-schema'
export { default } from './plugin.ts'
export type { StandardSchemaTypeProvider } from './type-provider.ts'
