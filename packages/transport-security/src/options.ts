import type { RemoteAddress } from './client-address.ts'
import { type HeaderBlocks, type HeaderOptions, headerBlocks } from './header-block.ts'
import { type LogSerializer, logSerializers } from './log-serializers.ts'
import { milliseconds } from './milliseconds.ts'

/** What the plugin can be told. */
export interface TransportSecurityOptions extends HeaderOptions {
  /**
   * How much of a client's IP address `req` shows in a log: nothing, its network, or all of it.
   * @default 'truncate'
   */
  readonly remoteAddress?: RemoteAddress | undefined
  /**
   * Log serializers of the service's own, by the name under which values are logged; they win over those of the package
   * (`req`, `res`, `err`, `msg`) and may throw: the value is then shown as `[cannot be shown]`.
   */
  readonly serializers?: Readonly<Record<string, LogSerializer>> | undefined
  /**
   * A handler has answered by then, or the answer is 503; a route's own `handlerTimeout` wins.
   * @default 30
   */
  readonly handlerTimeoutSeconds?: number | undefined
  /**
   * How long closing waits for answers and half-sent requests before it cuts their connections. Keep it below the time after
   * which the process is killed: containers are given 10 s, pods 30 s, unless somebody says otherwise.
   * @default 8
   */
  readonly closeTimeoutSeconds?: number | undefined
}

/** Everything that is computed once, at boot. */
export interface ResolvedOptions {
  readonly blocks: HeaderBlocks
  readonly serializers: ReturnType<typeof logSerializers>
  readonly handlerTimeoutMilliseconds: number
  readonly closeTimeoutMilliseconds: number
}

/** Refuses nonsense with a `TypeError` of one line, and computes what every answer shares. */
export function resolveOptions(options: TransportSecurityOptions): ResolvedOptions {
  for (const [name, serializer] of Object.entries(options.serializers ?? {})) {
    if (typeof serializer !== 'function') {
      throw new TypeError(`transport-security: the serializer "${name}" is no function. Give one that makes a value for the log.`)
    }
  }
  return {
    blocks: headerBlocks(options),
    serializers: logSerializers(options.remoteAddress, options.serializers),
    handlerTimeoutMilliseconds: milliseconds('handlerTimeoutSeconds', options.handlerTimeoutSeconds ?? 30),
    closeTimeoutMilliseconds: milliseconds('closeTimeoutSeconds', options.closeTimeoutSeconds ?? 8)
  }
}
