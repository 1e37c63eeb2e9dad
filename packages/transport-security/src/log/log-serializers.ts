import { targetWithoutSecrets } from '@concordat/plugin-kit/links'
import type { AddressedRequest } from './client-address.ts'
import type { HiddenFields } from './hidden-fields.ts'
import { type LogView, requestMessages } from './request-line.ts'

type Serializer = (value: never) => unknown
type Installed = Record<PropertyKey, (value: unknown) => unknown>
type LineFormatter = (line: object) => object

interface LoggedRequest extends AddressedRequest {
  readonly method: string
  readonly url: string
}

const maxCauses = 5
// The search for secrets would take a third of the time of a line.
const ownMessages: ReadonlySet<string> = new Set(Object.values(requestMessages))

// pino exports these symbols as pino.symbols. They are in the global symbol registry, so every copy of pino uses the same ones.
const pinoSerializers: unique symbol = Symbol.for('pino.serializers')
const pinoFormatters: unique symbol = Symbol.for('pino.formatters')

interface PinoParts {
  readonly [pinoSerializers]?: Installed
  readonly [pinoFormatters]?: { log?: LineFormatter }
}

/**
 * Makes a pino logger omit secrets, and all its child loggers, whether they were created before or after: `req`, `res` and `err` contain only selected
 * fields, and every line passes through `fields`, after the service's own formatter. Its other serializers become safe to call. Returns false for a
 * logger that is not of pino.
 */
export function cleanLog(logger: object, fields: HiddenFields, view: LogView): boolean {
  const { [pinoSerializers]: serializers, [pinoFormatters]: formatters } = logger as PinoParts
  if (!Object.hasOwn(logger, pinoSerializers) || serializers === undefined) return false
  Object.assign(serializers, guarded(serializers), guarded(serializersOf(fields, view)))
  if (formatters === undefined) return false
  const own = formatters.log
  formatters.log = (line) => {
    try {
      return fields.inLine(own === undefined ? line : own(line), serializers)
    } catch {
      return { unloggable: '[cannot be shown]' }
    }
  }
  return true
}

function serializersOf(fields: HiddenFields, { targetOf, addressOf }: LogView): Readonly<Record<string, Serializer>> {
  const cleaned = (text: string) => fields.inText(textWithoutSecrets(text))
  return {
    req: (request: LoggedRequest) => ({ method: request.method, url: targetOf(request.url), remoteAddress: addressOf(request) }),
    res: ({ statusCode }: { statusCode: number }) => ({ statusCode }),
    err: (thrown: unknown) => errorFields(thrown, maxCauses, cleaned, messageWithCauses(thrown, maxCauses)),
    msg: (message: unknown) => (typeof message === 'string' && !ownMessages.has(message) ? cleaned(message) : message)
  }
}

/** Returns the serializers wrapped so that they never throw, because an error while Fastify logs would crash the process. */
export function guarded(serializers: Readonly<Record<string, Serializer>>): Installed {
  const all: Installed = {}
  // Serializers of a plugin's own scope are inherited, so the own keys of the object are not enough.
  for (const key in serializers) {
    const serializer = serializers[key] as (value: unknown) => unknown
    all[key] = (value) => {
      try {
        return serializer(value)
      } catch {
        return '[cannot be shown]'
      }
    }
  }
  return all
}

function errorFields(thrown: unknown, causesLeft: number, clean: (text: string) => string, message: string): unknown {
  if (typeof thrown !== 'object' || thrown === null) return clean(message)
  const { code, stack, cause, constructor } = thrown as Partial<Error & { code: unknown }>
  return {
    type: constructor?.name,
    code,
    message: clean(message),
    stack: typeof stack === 'string' ? clean(stack) : undefined,
    cause: cause === undefined || causesLeft === 0 ? undefined : errorFields(cause, causesLeft - 1, clean, messageOf(cause))
  }
}

// As the serializer of pino: the message of an error for clients says nothing about the reason, which is its cause.
function messageWithCauses(thrown: unknown, causesLeft: number): string {
  const message = messageOf(thrown)
  const { cause } = (thrown ?? {}) as { readonly cause?: unknown }
  if (cause === undefined || causesLeft === 0) return message
  const reason = messageWithCauses(cause, causesLeft - 1)
  return message.includes(reason) ? message : `${message}: ${reason}`
}

function messageOf(thrown: unknown) {
  return String(typeof thrown === 'object' && thrown !== null ? (thrown as Partial<Error>).message : thrown)
}

function textWithoutSecrets(text: string) {
  return text.replace(/\/\/[^\s/?#]*@/g, '//').replace(/[?#;]\S+/g, (query) => (query.includes('=') ? targetWithoutSecrets(query) : query))
}
