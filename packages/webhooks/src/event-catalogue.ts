/** One form of an event's data. */
export interface EventForm {
  /** JSON Schema of `data`, for the description. */
  readonly schema: object
  /** Data as the schema says, for the description. */
  readonly example: unknown
}

/** A kind of event that can be subscribed to. */
export interface EventType extends EventForm {
  /** One sentence for clients: when it happens. */
  readonly description: string
  /**
   * The forms for subscriptions of other versions of the interface, by version; `represent` makes theirs of the data that was emitted.
   * @default {} – every version gets the same
   */
  readonly versions?: Readonly<Record<number, EventForm & { readonly represent: (data: never) => unknown }>> | undefined
}

/** Every event of a service, by type: words of letters, digits and `_`, with dots between, as `order.created`. */
export type EventCatalogue = Readonly<Record<string, EventType>>

/** What tells an owner's other subscriptions that one was disabled; it can be subscribed to like any event. */
export const disabledEventType = 'webhook.subscription.disabled'
/** What a ping sends. */
export const pingEventType = 'webhook.ping'

const subscriptionId = { type: 'string', format: 'uuid' }
const example = '019b7c2e-7a4f-7d31-b1c5-9a8c0f6f2f11'

const ownEvents: EventCatalogue = {
  [disabledEventType]: {
    description: 'Another subscription of the same owner was disabled, because its receiver is gone or fails.',
    schema: { type: 'object', properties: { subscriptionId, reason: { type: 'string' } }, required: ['subscriptionId', 'reason'] },
    example: { subscriptionId: example, reason: 'failing' }
  },
  [pingEventType]: {
    description: 'Somebody asked for a ping of the subscription.',
    schema: { type: 'object', properties: { subscriptionId }, required: ['subscriptionId'] },
    example: { subscriptionId: example }
  }
}

/** The bytes that are sent for an event. */
export function bodyOf(catalogue: EventCatalogue, type: string, version: number, timestamp: number, data: unknown): string {
  const form = catalogue[type]?.versions?.[version]
  const represented = form === undefined ? data : form.represent(data as never)
  return JSON.stringify({ type, timestamp: new Date(timestamp).toISOString(), data: represented })
}

/** Throws a `TypeError` of one line for a catalogue that makes no sense. */
export function requireCatalogue(catalogue: EventCatalogue): EventCatalogue {
  const entries = Object.entries(catalogue ?? {})
  if (entries.length === 0) throw new TypeError('webhooks: events is empty. Give the types of events that can be subscribed to.')
  for (const [type, event] of entries) {
    if (!/^\w{1,64}(\.\w{1,64}){0,7}$/.test(type))
      throw new TypeError(`webhooks: events has "${type}". Name it in words with dots between, as "order.created".`)
    if (type.startsWith('webhook.'))
      throw new TypeError(`webhooks: events has "${type}". Names that begin with "webhook." are kept for this package.`)
    for (const [where, form] of [['', event], ...Object.entries(event.versions ?? {})] as const) {
      if (typeof form.schema === 'object' && form.schema !== null && form.example !== undefined) continue
      throw new TypeError(`webhooks: events "${type}" ${where && `version ${where} `}lacks its schema or example. Give both.`)
    }
  }
  return catalogue
}

/** The `webhooks` of an OpenAPI 3.1 document, by type, as a version of the interface has them; with those of this package. */
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
    // Who may send is told by the signature.
    security: [],
    parameters,
    requestBody: { required: true, content: { 'application/json': { schema: payload, example: { type, timestamp, data: example } } } },
    responses
  }
}

const parameters = [
  header('webhook-id', 'Names the event: the same at each attempt.', { examples: [example] }),
  header('webhook-timestamp', 'When this attempt was signed, in seconds since 1970. Refuse what is more than five minutes away.', {
    pattern: '^\\d+$',
    examples: ['1767323045']
  }),
  header('webhook-signature', 'Signatures by Standard Webhooks 1.0, with spaces between; one that fits is enough.', {
    examples: ['v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=']
  })
]

function header(name: string, description: string, schema: object) {
  return { name, in: 'header', required: true, description, schema: { type: 'string', ...schema } }
}

const retryAfter = { description: 'For how many seconds nothing shall be sent.', schema: { type: 'integer', minimum: 0, maximum: 86_400 } }
const later = { description: 'Sent again later; where `Retry-After` is given, not earlier.', headers: { 'Retry-After': retryAfter } }

const responses = {
  '2XX': { description: 'The event is taken.' },
  '410': { description: 'The receiver is gone: the subscription is disabled at once.' },
  '429': later,
  '502': later,
  '503': later,
  '504': later,
  default: { description: 'Anything else is tried again later. Redirects are not followed.' }
}
