import { type AdmissionOptions, admission } from './admission.ts'
import type { RemoteAddress } from './client-address.ts'
import { type HeaderBlocks, type HeaderOptions, headerBlocks } from './header-block.ts'
import { HiddenFields } from './hidden-fields.ts'
import { type LogSerializer, logSerializers } from './log-serializers.ts'
import { milliseconds } from './milliseconds.ts'

/** How long a handler may take where nothing else is said, in seconds. */
export const defaultHandlerTimeoutSeconds = 30

/** What the plugin can be told. */
export interface TransportSecurityOptions extends HeaderOptions, AdmissionOptions {
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
   * Names of fields, headers and parameters whose values no log line shows, beside those that the schemas of the routes mark
   * by `writeOnly: true` or the formats `password`, `email` and `idn-email`, and beside the headers that carry credentials.
   * @default []
   */
  readonly hiddenFields?: readonly string[] | undefined
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
  readonly refusalOf: ReturnType<typeof admission>
  readonly hiddenFields: HiddenFields
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
  const hiddenFields = new HiddenFields()
  hiddenFields.add(names(options.hiddenFields ?? []))
  return {
    blocks: headerBlocks(options),
    refusalOf: admission(options),
    hiddenFields,
    serializers: logSerializers(hiddenFields, options.remoteAddress, options.serializers),
    handlerTimeoutMilliseconds: milliseconds('handlerTimeoutSeconds', options.handlerTimeoutSeconds ?? defaultHandlerTimeoutSeconds),
    closeTimeoutMilliseconds: milliseconds('closeTimeoutSeconds', options.closeTimeoutSeconds ?? 8)
  }
}

function names(fields: readonly string[]) {
  if (!Array.isArray(fields) || fields.some((name) => typeof name !== 'string' || name === ''))
    throw new TypeError(`transport-security: hiddenFields is ${JSON.stringify(fields)}. Give a list of names, as ["iban"].`)
  return fields
}
