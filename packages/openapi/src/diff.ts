export { breakingChanges, changesText, requireCompatible } from './diff/breaking-changes.ts'
export type { OpenapiDocument } from './document/document.ts'
