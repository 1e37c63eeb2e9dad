export { findingsText, type LintOptions, lintDocument } from './lints/lints.ts'
