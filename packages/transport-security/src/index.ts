export { type TransportSecurityOptions } from './options.ts'
export { default } from './plugin.ts'
export {
  type TransportSecurityServerOptions,
  type TransportSecurityServerPart,
  transportSecurityServerOptions
} from './server/server-options.ts'
