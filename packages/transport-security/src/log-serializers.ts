import { targetWithoutSecrets } from '@concordat/links'
import { type AddressedRequest, addressReader, type RemoteAddress } from './client-address.ts'

/** Turns a value that is logged under a name into what the log shows. */
export type LogSerializer = (value: never) => unknown

type Installed = Record<PropertyKey, (value: unknown) => unknown>

interface LoggedRequest extends AddressedRequest {
  readonly method: string
  readonly url: string
}

const maxCauses = 5

// pino publishes it to libraries as pino.symbols.serializersSym; it is registered, so every copy of pino has the same.
const pinoSerializers = Symbol.for('pino.serializers')

/**
 * Makes the serializers of a log without secrets: allow-lists for `req`, `res` and `err`, and messages whose addresses
 * carry no credentials. `own` ones are added, or win. None of them throws.
 */
export function logSerializers(remoteAddress: RemoteAddress | undefined, own: Readonly<Record<string, LogSerializer>> = {}): Installed {
  const addressOf = addressReader(remoteAddress)
  return guarded({
    req: (request: LoggedRequest) => ({
      method: request.method,
      url: targetWithoutSecrets(request.url),
      remoteAddress: addressOf(request)
    }),
    res: ({ statusCode }: { statusCode: number }) => ({ statusCode }),
    err: (thrown: unknown) => errorFields(thrown, maxCauses),
    msg: (message: unknown) => (typeof message === 'string' ? textWithoutSecrets(message) : message),
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

function errorFields(thrown: unknown, causesLeft: number): unknown {
  if (typeof thrown !== 'object' || thrown === null) return textWithoutSecrets(String(thrown))
  const { code, message, stack, cause, constructor } = thrown as Partial<Error & { code: unknown }>
  return {
    type: constructor?.name,
    code,
    message: textWithoutSecrets(String(message)),
    stack: typeof stack === 'string' ? textWithoutSecrets(stack) : undefined,
    cause: cause === undefined || causesLeft === 0 ? undefined : errorFields(cause, causesLeft - 1)
  }
}

function textWithoutSecrets(text: string) {
  return text.replace(/\/\/[^\s/?#]*@/g, '//').replace(/[?#;]\S+/g, (query) => (query.includes('=') ? targetWithoutSecrets(query) : query))
}
