export type { RequiredHeaders } from './operation-finder.ts'
export { requiredHeaders } from './operation-finder.ts'
export type { CheckedResponse, ResponseChecker, ResponseCheckOptions } from './response-check.ts'
export { responseChecker } from './response-check.ts'
