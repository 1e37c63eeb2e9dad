export { authenticationErrors } from './errors.ts'
export type { AuthenticationOptions } from './options.ts'
export { default } from './plugin.ts'
