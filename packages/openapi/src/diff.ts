export { breakingChanges, changesText, requireCompatible } from './diff/breaking-changes.ts'
export { descriptionDigest } from './document/description-digest.ts'
export type { OpenapiDocument } from './document/document.ts'
export { digestsFile } from './document/released-digests.ts'
