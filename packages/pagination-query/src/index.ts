export { paginationQueryErrors } from './errors.ts'
export type { PaginationQueryOptions } from './options.ts'
export { default } from './plugin.ts'
