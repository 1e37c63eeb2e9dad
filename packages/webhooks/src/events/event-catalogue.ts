import { requireJsonSchema } from '@concordat/plugin-kit/json-schema'
import { maxLiveKeys } from '../store/subscription.ts'

/** The JSON Schema and an example of an event's data. Only what the schema declares is sent, as in a response. */
export interface EventForm {
  readonly schema: object
  readonly example: unknown
}

/** A type of event that clients can subscribe to. */
export interface EventType extends EventForm {
  /** A sentence for clients that says when the event happens. */
  readonly description: string
  /**
   * Returns the audiences that may receive an event with this data, which is that passed to `emit`: for example `['staff', 'customer:42']`. The option
   * `audienceOf` of the routes gives each subscription its audience. By default all subscriptions to the type are read, in proportion to their number.
   */
  readonly audiences?: ((data: never) => readonly string[]) | undefined
  /** The forms of the data for other API versions, by number; `represent` makes them of the data passed to `emit`. By default there is one form. */
  readonly versions?: Readonly<Record<number, EventForm & { readonly represent: (data: never) => unknown }>> | undefined
}

/** All events of a service, by type; a type is one or more words of letters, digits and `_`, separated by dots, for example `order.created`. */
export type EventCatalogue = Readonly<Record<string, EventType>>

/** The pattern of the types of events. */
export const typePattern = '^\\w{1,64}(\\.\\w{1,64}){0,7}$'
/** The type of the event for the other subscriptions of an owner when one is disabled. Clients subscribe to it like to any event. */
export const disabledEventType = 'webhook.subscription.disabled'
/** The type of the event that a ping sends. */
export const pingEventType = 'webhook.ping'

const subscriptionId = { type: 'string', format: 'uuid' }
/** The value of `webhook-id`: a UUID, or what `emit` accepts in its place. */
export const messageId = { type: 'string', pattern: '^[\\w-]{1,64}$', maxLength: 64 }
const example = '019b7c2e-7a4f-7d31-b1c5-9a8c0f6f2f11'

const ownEvents: EventCatalogue = {
  [disabledEventType]: {
    description: 'Another subscription of the same owner was disabled because its receiver is gone or keeps failing.',
    schema: {
      type: 'object',
      properties: { subscriptionId, reason: { type: 'string', enum: ['gone', 'failing', 'unverified', 'orderBroken'] } },
      required: ['subscriptionId', 'reason']
    },
    example: { subscriptionId: example, reason: 'failing' }
  },
  [pingEventType]: {
    description:
      'Verifies the URL of a subscription: a 2xx response to it is required once, before the first event and after each change of the URL. A ping can also be requested.',
    schema: { type: 'object', properties: { subscriptionId }, required: ['subscriptionId'] },
    example: { subscriptionId: example }
  }
}

/** Returns the body that is sent for an event, with its data as JSON text. */
export function bodyOf(type: string, timestamp: number, data: string): string {
  return `{"type":"${type}","timestamp":"${new Date(timestamp).toISOString()}","data":${data}}`
}

/** The names of the members of an event type. */
export const eventNames = {
  description: true,
  audiences: true,
  schema: true,
  example: true,
  versions: { '*': { schema: true, example: true, represent: true } }
} as const

/** Throws a `TypeError` with a one-line message for a catalogue without events. */
export function requireEvents(catalogue: EventCatalogue): void {
  if (Object.keys(catalogue ?? {}).length === 0) throw invalid('is empty. Add the event types that clients can subscribe to.')
}

/** Throws a `TypeError` with a one-line message for an invalid or reserved type of event. */
export function requireType(type: string): void {
  if (!new RegExp(typePattern).test(type))
    throw invalid(`contains the invalid type "${type}". Use words separated by dots, for example "order.created".`)
  if (type.startsWith('webhook.'))
    throw invalid(`must not contain "${type}", because types that start with "webhook." are reserved. Rename it.`)
}

/** Throws a `TypeError` with a one-line message for an event, or its form for an API version, without a JSON Schema and an example. */
export function requireForm(type: string, version: string | undefined, { schema, example }: EventForm): void {
  requireJsonSchema(schema, `webhooks: options.events "${type}" schema`, 'Set its JSON Schema, for example z.toJSONSchema(schema).')
  if (typeof schema !== 'object' || schema === null || example === undefined)
    throw invalid(`"${type}" ${version === undefined ? '' : `version ${version} `}must have a schema and an example. Add both.`)
}

function invalid(problem: string) {
  return new TypeError(`webhooks: options.events ${problem}`)
}

/** Returns the `webhooks` object of an OpenAPI 3.1 document for an API version, including the events of this package. */
export function describeWebhooks(catalogue: EventCatalogue, version = 1): Record<string, object> {
  return Object.fromEntries(
    Object.entries({ ...catalogue, ...ownEvents }).map(([type, event]) => {
      const { schema, example } = event.versions?.[version] ?? event
      return [type, { post: operationOf(type, event.description, schema, example) }]
    })
  )
}

function operationOf(type: string, description: string, schema: object, example: unknown) {
  const timestamp = '2026-01-02T03:04:05.678Z'
  const properties = { type: { type: 'string', const: type }, timestamp: { type: 'string', format: 'date-time' }, data: schema }
  const payload = { type: 'object', required: ['type', 'timestamp', 'data'], properties }
  return {
    operationId: `webhook.${type}`,
    summary: type,
    description,
    tags: ['webhooks'],
    // The signature proves who the sender is.
    security: [],
    parameters,
    requestBody: { required: true, content: { 'application/json': { schema: payload, example: { type, timestamp, data: example } } } },
    responses
  }
}

// A signature has at most 64 bytes, which are 88 characters after `v1a,`.
const signature = 'v1a?,[A-Za-z0-9+/]{43,86}={1,2}'
const parameters = [
  header('webhook-id', 'Identifies the event. It is the same for each attempt.', { ...messageId, examples: [example] }),
  header(
    'webhook-timestamp',
    'When this attempt was signed, in seconds since the Unix epoch. Reject timestamps that differ from the current time by more than five minutes.',
    { pattern: '^\\d{1,13}$', maxLength: 13, examples: ['1767323045'] }
  ),
  header('webhook-signature', 'The signatures as defined by Standard Webhooks 1.0, separated by spaces. One valid signature is enough.', {
    pattern: `^${signature}( ${signature}){0,${maxLiveKeys - 1}}$`,
    maxLength: maxLiveKeys * 93 - 1,
    examples: ['v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=']
  })
]

function header(name: string, description: string, schema: object) {
  return { name, in: 'header', required: true, description, schema: { type: 'string', ...schema } }
}

const seconds = { type: 'integer', minimum: 0, maximum: 86_400 }
const later = {
  description: 'The event is sent again after the time in `Retry-After` at the earliest.',
  headers: { 'Retry-After': { description: 'The number of seconds to wait before the next request.', schema: seconds } }
}

const responses = {
  '2XX': { description: 'The event is accepted.' },
  '410': { description: 'The receiver is gone. The subscription is disabled immediately.' },
  '429': later,
  '502': later,
  '503': later,
  '504': later,
  default: { description: 'The event is sent again later. Redirects are not followed.' }
}
