export type { OpenapiDocument } from './document.ts'
export type { Finding, LintOptions } from './lints.ts'
export { findingsText, lintDocument } from './lints.ts'
