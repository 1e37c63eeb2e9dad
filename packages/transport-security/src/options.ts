import { type OptionNames, requirePluginNames } from '@concordat/plugin-options'
import { type AdmissionOptions, admission } from './admission.ts'
import type { RemoteAddress } from './client-address.ts'
import { type HeaderBlocks, type HeaderOptions, headerBlocks } from './header-block.ts'
import { HiddenFields } from './hidden-fields.ts'
import { type LogSerializer, logSerializers } from './log-serializers.ts'
import { milliseconds } from './milliseconds.ts'

/** The default time limit of a handler, in seconds. */
export const defaultHandlerTimeoutSeconds = 30

/** Options of `@concordat/transport-security`. */
export interface TransportSecurityOptions extends HeaderOptions, AdmissionOptions {
  /**
   * How much of a client's IP address `req` shows in the log: nothing, its network, or the full address.
   * @default 'truncate'
   */
  readonly remoteAddress?: RemoteAddress | undefined
  /**
   * The service's own log serializers, by the name under which values are logged. They take precedence over the serializers of the
   * package (`req`, `res`, `err`, `msg`). If a serializer throws, the log shows `[cannot be shown]`.
   */
  readonly serializers?: Readonly<Record<string, LogSerializer>> | undefined
  /**
   * Names of fields, headers and parameters whose values are hidden in the log, in addition to the headers that carry credentials
   * and to those that the schemas of the routes mark by `writeOnly: true`, `'x-secret': true` or the formats `password`, `email` and `idn-email`.
   * @default []
   */
  readonly hiddenFields?: readonly string[] | undefined
  /**
   * The time limit of a handler, in seconds. After it, the response is 503. A route's own `handlerTimeout` takes precedence.
   * @default 30
   */
  readonly handlerTimeoutSeconds?: number | undefined
  /**
   * How long `app.close()` waits for pending responses and incomplete requests before it closes their connections, in seconds. Keep it below the
   * time after which the process is killed: by default 10 s for containers and 30 s for pods.
   * @default 8
   */
  readonly closeTimeoutSeconds?: number | undefined
  /**
   * How long a client may read nothing of a pending response before its connection is closed, in seconds. A client that reads slowly is never
   * affected.
   * @default 60
   */
  readonly sendTimeoutSeconds?: number | undefined
}

/** The names of the options. */
export const optionNames: OptionNames<TransportSecurityOptions> = {
  publicUrl: true,
  allowedHosts: true,
  headers: true,
  overrides: true,
  dangerouslyAllowHttp: true,
  remoteAddress: true,
  serializers: true,
  hiddenFields: true,
  handlerTimeoutSeconds: true,
  closeTimeoutSeconds: true,
  sendTimeoutSeconds: true
}

/** The values that are computed once, at start. */
export interface ResolvedOptions {
  readonly blocks: HeaderBlocks
  readonly refusalOf: ReturnType<typeof admission>
  readonly hiddenFields: HiddenFields
  readonly serializers: ReturnType<typeof logSerializers>
  readonly handlerTimeoutMs: number
  readonly closeTimeoutMs: number
  readonly sendTimeoutMs: number
}

/** Validates the options and computes the values that are derived from them. Throws a `TypeError` with a one-line message for invalid options. */
export function resolveOptions(options: TransportSecurityOptions): ResolvedOptions {
  requirePluginNames('transport-security', options, optionNames)
  for (const [name, serializer] of Object.entries(options.serializers ?? {})) {
    if (typeof serializer !== 'function') {
      throw new TypeError(`transport-security: options.serializers["${name}"] must be a function that returns a value for the log.`)
    }
  }
  const hiddenFields = new HiddenFields()
  hiddenFields.add(names(options.hiddenFields ?? []))
  return {
    blocks: headerBlocks(options),
    refusalOf: admission(options),
    hiddenFields,
    serializers: logSerializers(hiddenFields, options.remoteAddress, options.serializers),
    handlerTimeoutMs: milliseconds('handlerTimeoutSeconds', options.handlerTimeoutSeconds ?? defaultHandlerTimeoutSeconds),
    closeTimeoutMs: milliseconds('closeTimeoutSeconds', options.closeTimeoutSeconds ?? 8),
    sendTimeoutMs: milliseconds('sendTimeoutSeconds', options.sendTimeoutSeconds ?? 60)
  }
}

function names(fields: readonly string[]) {
  if (!Array.isArray(fields) || fields.some((name) => typeof name !== 'string' || name === ''))
    throw new TypeError(
      `transport-security: options.hiddenFields must be an array of names, for example ["iban"], but is ${JSON.stringify(fields)}.`
    )
  return fields
}
