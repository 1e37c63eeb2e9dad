export { type RequiredHeaders, requiredHeaders } from './document/operation-finder.ts'
export { type CheckedResponse, type ResponseChecker, responseChecker } from './response-check.ts'
