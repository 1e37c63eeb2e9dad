export { ApiError, type FieldError, isApiError } from './api-error.ts'
export { defineErrors, type ErrorDefinition, type ErrorList } from './define-errors.ts'
export { sharedDefinitions } from './shared-definitions.ts'
export { fillTemplate, type Messages, type Params } from './template.ts'
