import { headerBlocks } from './header-block.ts'
import { type TransportSecurityOptions, transportSecurityOptions } from './options.ts'
import { newRequestId } from './request-id.ts'

/**
 * Returns a function that creates the headers for a response that bypasses the hooks, for example a response written directly to a socket: the
 * security headers, and a `request-id` with the id of the request or a new id. Each call returns a new object that the caller can extend. Throws a
 * `TypeError` at start for options that the plugin refuses.
 */
export function responseHeaders(
  options: TransportSecurityOptions = {}
): (request?: { id?: string | undefined; protocol?: string | undefined }) => Record<string, string> {
  const blocks = headerBlocks(transportSecurityOptions.read(options).overrides)
  return (request) => ({
    ...(request?.protocol === 'https' ? blocks.https : blocks.http),
    'request-id': request?.id ?? newRequestId()
  })
}
