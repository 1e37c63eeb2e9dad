export { ApiError, type FieldError, fillTemplate, isApiError, type Messages, type Params, refusedParameter } from './api-error.ts'
export { observeErrorHandlers, reportChangedStatus } from './changed-status.ts'
export { defineErrors, type ErrorDefinition, type ErrorList, errorCodeSchema, isErrorCode } from './define-errors.ts'
export { sharedDefinitions } from './shared-definitions.ts'
