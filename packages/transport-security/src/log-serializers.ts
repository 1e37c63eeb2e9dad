import { targetWithoutSecrets } from '@concordat/links'
import { type AddressedRequest, addressReader, type RemoteAddress } from './client-address.ts'
import type { HiddenFields } from './hidden-fields.ts'

/** Returns what the log shows for a value that is logged under a name. */
export type LogSerializer = (value: never) => unknown

type Installed = Record<PropertyKey, (value: unknown) => unknown>

interface LoggedRequest extends AddressedRequest {
  readonly method: string
  readonly url: string
}

const maxCauses = 5

// pino exports these symbols as pino.symbols. They are in the global symbol registry, so every copy of pino uses the same ones.
const pinoSerializers = Symbol.for('pino.serializers')
const pinoFormatters = Symbol.for('pino.formatters')

type LineFormatter = (line: object) => object

/**
 * Returns log serializers that omit secrets: `req`, `res` and `err` contain only selected fields, and URLs in messages contain no credentials. The
 * serializers in `own` are added, and take precedence. None of the returned serializers throws.
 */
export function logSerializers(
  fields: HiddenFields,
  remoteAddress: RemoteAddress | undefined,
  own: Readonly<Record<string, LogSerializer>> = {}
): Installed {
  const addressOf = addressReader(remoteAddress)
  const textCleaner = (text: string) => fields.inText(textWithoutSecrets(text))
  return guarded({
    req: (request: LoggedRequest) => ({
      method: request.method,
      url: fields.inTarget(request.url),
      remoteAddress: addressOf(request)
    }),
    res: ({ statusCode }: { statusCode: number }) => ({ statusCode }),
    err: (thrown: unknown) => errorFields(thrown, maxCauses, textCleaner),
    msg: (message: unknown) => (typeof message === 'string' ? textCleaner(message) : message),
    ...own
  })
}

/**
 * Adds serializers to a pino logger and makes its existing serializers safe to call. All child loggers use them, whether they were
 * created before or after. Returns false when the logger is not a pino logger.
 */
export function installSerializers(logger: object, serializers: Installed): boolean {
  if (!Object.hasOwn(logger, pinoSerializers)) return false
  const installed = (logger as Record<symbol, Installed>)[pinoSerializers] as Installed
  Object.assign(installed, guarded(installed), serializers)
  return true
}

/**
 * Passes every line of a pino logger and of its future child loggers through `fields`. The service's own formatter runs first.
 * Returns false when the logger is not a pino logger.
 */
export function installHiddenFields(logger: object, fields: HiddenFields): boolean {
  const { [pinoFormatters]: formatters, [pinoSerializers]: ownSerializers } = logger as Record<symbol, Record<string, unknown> | undefined>
  if (formatters === undefined) return false
  const own = formatters['log'] as LineFormatter | undefined
  formatters['log'] = (line: object) => {
    try {
      return fields.inLine(own === undefined ? line : own(line), ownSerializers)
    } catch {
      return { unloggable: '[cannot be shown]' }
    }
  }
  return true
}

/** Returns the serializers wrapped so that they never throw, because an error while Fastify logs would crash the process. */
export function guarded(serializers: Readonly<Record<string, LogSerializer>>): Installed {
  const all: Installed = {}
  // Serializers of a plugin's own scope are inherited, so the own keys of the object are not enough.
  for (const key in serializers) all[key] = guard(serializers[key] as (value: unknown) => unknown)
  return all
}

function guard(serializer: (value: unknown) => unknown) {
  return (value: unknown) => {
    try {
      return serializer(value)
    } catch {
      return '[cannot be shown]'
    }
  }
}

function errorFields(thrown: unknown, causesLeft: number, clean: (text: string) => string): unknown {
  if (typeof thrown !== 'object' || thrown === null) return clean(String(thrown))
  const { code, message, stack, cause, constructor } = thrown as Partial<Error & { code: unknown }>
  return {
    type: constructor?.name,
    code,
    message: clean(String(message)),
    stack: typeof stack === 'string' ? clean(stack) : undefined,
    cause: cause === undefined || causesLeft === 0 ? undefined : errorFields(cause, causesLeft - 1, clean)
  }
}

function textWithoutSecrets(text: string) {
  return text.replace(/\/\/[^\s/?#]*@/g, '//').replace(/[?#;]\S+/g, (query) => (query.includes('=') ? targetWithoutSecrets(query) : query))
}
