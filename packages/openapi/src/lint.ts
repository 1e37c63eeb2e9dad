export { findingsText, type LintOptions, lintDocument } from './lints.ts'
