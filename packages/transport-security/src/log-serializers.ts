import { targetWithoutSecrets } from '@concordat/links'
import { type AddressedRequest, addressReader, type RemoteAddress } from './client-address.ts'
import type { HiddenFields } from './hidden-fields.ts'

/** Turns a value that is logged under a name into what the log shows. */
export type LogSerializer = (value: never) => unknown

type Installed = Record<PropertyKey, (value: unknown) => unknown>

interface LoggedRequest extends AddressedRequest {
  readonly method: string
  readonly url: string
}

const maxCauses = 5

// pino publishes them to libraries as pino.symbols; they are registered, so every copy of pino has the same.
const pinoSerializers = Symbol.for('pino.serializers')
const pinoFormatters = Symbol.for('pino.formatters')

type LineFormatter = (line: object) => object

/**
 * Makes the serializers of a log without secrets: allow-lists for `req`, `res` and `err`, and messages whose addresses
 * carry no credentials. `own` ones are added, or win. None of them throws.
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
 * Puts serializers into a pino logger and makes those that are there already safe to call. Every child, made before or
 * after, has them. False when the logger is no pino.
 */
export function installSerializers(logger: object, serializers: Installed): boolean {
  if (!Object.hasOwn(logger, pinoSerializers)) return false
  const installed = (logger as Record<symbol, Installed>)[pinoSerializers] as Installed
  Object.assign(installed, guarded(installed), serializers)
  return true
}

/**
 * Lets every line of a pino logger, and of the children that it will have, pass through `fields` first; a formatter of the
 * service's own comes before. False when the logger is no pino.
 */
export function installHiddenFields(logger: object, fields: HiddenFields): boolean {
  const { [pinoFormatters]: formatters, [pinoSerializers]: kept } = logger as Record<symbol, Record<string, unknown> | undefined>
  if (formatters === undefined) return false
  const own = formatters['log'] as LineFormatter | undefined
  formatters['log'] = (line: object) => {
    try {
      return fields.inLine(own === undefined ? line : own(line), kept)
    } catch {
      return { unloggable: '[cannot be shown]' }
    }
  }
  return true
}

/** The same serializers, which can't throw any more: in one of Fastify's own lines, that would end the process. */
export function guarded(serializers: Readonly<Record<string, LogSerializer>>): Installed {
  const all: Installed = {}
  // Those of a plugin's own scope come by inheritance, so keys of the object alone are not enough.
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
