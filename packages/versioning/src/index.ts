export { lints } from './lints.ts'
export type { VersioningOptions } from './options.ts'
export { default } from './plugin.ts'
export type { VersionTable } from './version-table.ts'
