import { requireKnownNames } from '@concordat/plugin-options'
import { type HeaderOptions, headerBlocks } from './header-block.ts'
import { optionNames, type TransportSecurityOptions } from './options.ts'
import { newRequestId } from './request-id.ts'

/**
 * Returns a function that creates the headers for a response that bypasses the hooks, for example a response written directly to a socket: the
 * security headers, and a `request-id` with the id of the request or a new id. Each call returns a new object that the caller can extend. Throws a
 * `TypeError` at start for options that the plugin refuses.
 */
export function responseHeaders(
  options: HeaderOptions = {}
): (request?: { id?: string | undefined; protocol?: string | undefined }) => Record<string, string> {
  // Those of the plugin, whose options a caller may pass on.
  requireKnownNames<TransportSecurityOptions>('transport-security', options, optionNames)
  const blocks = headerBlocks(options)
  return (request) => ({
    ...(request?.protocol === 'https' ? blocks.https : blocks.http),
    'request-id': request?.id ?? newRequestId()
  })
}
