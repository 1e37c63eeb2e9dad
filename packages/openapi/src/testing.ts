export { type RequiredHeaders, requiredHeaders } from './operation-finder.ts'
export { type CheckedResponse, type ResponseChecker, responseChecker } from './response-check.ts'
