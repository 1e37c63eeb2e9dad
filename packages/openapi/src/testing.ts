export type { CheckedResponse, ResponseChecker, ResponseCheckOptions } from './response-check.ts'
export { responseChecker } from './response-check.ts'
