export { lintIds } from './lints/lints.ts'
export type { OpenapiOptions } from './options.ts'
export { default } from './plugin.ts'
