export { type CheckedResponse, type ResponseChecker, responseChecker } from './response-check.ts'
