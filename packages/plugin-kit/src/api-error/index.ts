export {
  ApiError,
  type Effect,
  effects,
  type FieldError,
  isApiError,
  type Retry,
  refusedParameter,
  retries,
  withoutStack
} from './api-error.ts'
export { observeErrorHandlers, reportChangedStatus } from './changed-status.ts'
export { defineErrors, type ErrorDefinition, type ErrorList, errorCodeSchema, isErrorCode } from './define-errors.ts'
export { sharedDefinitions } from './shared-definitions.ts'
