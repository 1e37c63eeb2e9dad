import type { IncomingHttpHeaders } from 'node:http'
import { type Contracts, publish } from '@concordat/plugin-kit/wiring'
import webhooks, {
  type Attempt,
  type Delivery,
  memoryWebhookStore,
  type WebhookStore,
  type WebhooksOptions,
  webhookRoutes
} from '@concordat/webhooks'
import { memoryWorkQueue } from '@concordat/work-queue'
import { testClock } from '@concordat/work-queue/testing'
import Fastify from 'fastify'
import type { Test } from 'tap'
import { allowingLoopback, startReceiver } from './tls-receiver.ts'

const money = { type: 'object', properties: { amount: { type: 'string' }, currency: { type: 'string' } } }

/** The events of these tests. */
export const events: WebhooksOptions['events'] = {
  'order.created': {
    description: 'An order was placed.',
    schema: { type: 'object', properties: { id: { type: 'string' }, total: money } },
    example: { id: '7', total: { amount: '1.00', currency: 'EUR' } },
    versions: {
      1: {
        schema: { type: 'object', properties: { id: { type: 'string' }, total: { type: 'string' } } },
        example: { id: '7', total: '1.00' },
        represent: ({ total, ...order }: { total: { amount: string } }) => ({ ...order, total: total.amount })
      }
    }
  },
  'product.updated': { description: 'A product has changed.', schema: { type: 'object', additionalProperties: true }, example: { id: '1' } }
}

export const start = Date.parse('2026-01-02T03:04:05Z')
export const minute = 60_000
export const hour = 60 * minute
export const day = 24 * hour

/** Starts a service with webhooks in memory, on a clock that the test controls. */
export async function startService(t: Test, options: Partial<WebhooksOptions> = {}, published: Partial<Contracts> = {}) {
  const clock = testClock(start)
  const now = () => clock.now()
  const store = options.store ?? memoryWebhookStore()
  const queue = memoryWorkQueue({ clock })
  const app = Fastify()
  const notices: unknown[] = []
  publish(app, published)
  await app.register(webhooks, {
    ...allowingLoopback,
    events,
    store,
    queue,
    mayReceive: 'everyone',
    onDisabled: ({ id }, reason) => notices.push(['disabled', id, reason]),
    ...options
  })
  await app.register(webhookRoutes, { owner: ({ headers }) => headers['x-owner'] as string | undefined })
  await app.ready()
  t.teardown(async () => {
    await app.close()
    await queue.close(0)
  })
  return { app, clock, now, store, queue, notices, webhooks: app.webhooks }
}

/** An attempt as the receiver saw it. */
export interface Seen {
  readonly at: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  readonly body: { readonly type: string; readonly timestamp: string; readonly data: unknown }
}

type ReceivedResponse = number | { readonly status: number; readonly headers: Record<string, string> }

/**
 * Starts a receiver that records the attempts and responds with the result of `received`. It accepts the verification of its URL, which is the first ping of
 * each subscription, and does not record it.
 */
export async function startWitness(
  t: Test,
  now: () => number,
  received: (seen: Seen, count: number) => ReceivedResponse | Promise<ReceivedResponse>
) {
  const seen: Seen[] = []
  const verified = new Set<unknown>()
  const url = await startReceiver(t, async (request, response) => {
    const text = Buffer.concat(await request.toArray()).toString()
    const attempt = { at: now(), headers: request.headers, text, body: JSON.parse(text) }
    const { subscriptionId } = attempt.body.data as { readonly subscriptionId?: unknown }
    if (attempt.body.type === 'webhook.ping' && !verified.has(subscriptionId)) {
      verified.add(subscriptionId)
      response.writeHead(204).end()
      return
    }
    seen.push(attempt)
    const given = await received(attempt, seen.length)
    const { status, headers } = typeof given === 'number' ? { status: given, headers: {} } : given
    response.writeHead(status, headers).end()
  })
  return { url, seen }
}

/** Makes the URL of a subscription verified without a request to its receiver. */
export async function skipVerification({ store }: { store: WebhookStore }, subscriptionId: string) {
  await store.changeSubscription(subscriptionId, (current) => ({ ...current, verificationJobId: undefined }))
}

/** Returns all deliveries of a subscription with their attempts, oldest first. */
export async function historyOf({ store }: { store: WebhookStore }, subscriptionId: string) {
  const found: (Delivery & { readonly tries: Attempt[] })[] = []
  for (const delivery of await store.deliveriesOf(subscriptionId, { limit: 10_000 })) {
    found.unshift({ ...delivery, tries: (await store.attemptsOf(delivery.id, { limit: 1000 })).toReversed() })
  }
  return found
}
