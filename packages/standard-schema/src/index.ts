export { type StandardSchema, withJsonSchema } from '@concordat/plugin-kit/json-schema'
export { default } from './plugin.ts'
export type { StandardSchemaTypeProvider } from './type-provider.ts'
