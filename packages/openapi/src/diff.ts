export { breakingChanges, changesText, requireCompatible } from './breaking-changes.ts'
export type { OpenapiDocument } from './document.ts'
