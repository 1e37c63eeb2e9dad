import webhooks, { describeWebhooks, memoryStore, type WebhooksOptions, webhookRoutes, webhooksErrors } from '@concordat/webhooks'
import { memoryQueue } from '@concordat/work-queue'
import Fastify from 'fastify'
import t from 'tap'
import { events, startService, startWitness } from './service.ts'
import { trustingLoopback } from './tls-receiver.ts'

const alive = setInterval(() => {}, 1000)
t.teardown(() => clearInterval(alive))

t.test('stock Fastify with the plugin alone delivers, on the clock of this machine, and says that it keeps all in memory', async (t) => {
  const lines: string[] = []
  const app = Fastify({ logger: { level: 'info', stream: { write: (line) => void lines.push(line) } } })
  t.teardown(() => app.close())
  await app.register(webhooks, { ...trustingLoopback, events, mayReceive: 'everyone', scheduleSeconds: [0, 0.01] })
  await app.ready()
  const arrived = Promise.withResolvers<void>()
  const { url, seen } = await startWitness(t, Date.now, (_seen, count) => {
    if (count === 2) arrived.resolve()
    return count === 2 ? 410 : 500
  })
  const { id } = await app.webhooks.subscribe('ada', { url, eventTypes: ['order.created'] })
  await app.webhooks.emit('order.created', { total: { amount: '1' } })
  await arrived.promise
  await app.close()
  t.equal(seen.length, 2)
  t.match((await app.webhooks.subscription('ada', id))?.disabledReason, 'gone')
  t.match(lines[0], /kept in memory, so what is not delivered is lost with the process/)
  t.match(lines.join(''), new RegExp(`"subscriptionId":"${id}","reason":"gone".*"webhooks: a subscription was disabled"`))
  t.match(lines.join(''), /a delivery has failed for good/)
})

t.test('options that make no sense stop the start in one line', async (t) => {
  const good = { events, mayReceive: 'everyone' as const }
  const form = { description: '', schema: {}, example: {} }
  const wrong: [Partial<Record<keyof WebhooksOptions, unknown>>, RegExp][] = [
    [{ events: {} }, /^webhooks: events is empty\./],
    [{ events: undefined }, /^webhooks: events is empty\./],
    [{ events: { 'order created': form } }, /events has "order created"\. Name it in words/],
    [{ events: { 'webhook.ping': form } }, /kept for this package/],
    [{ events: { a: { ...form, schema: undefined } } }, /events "a" lacks its schema or example/],
    [{ events: { a: { ...form, versions: { 1: { schema: {} } } } } }, /events "a" version 1 lacks/],
    [{ mayReceive: undefined }, /mayReceive is missing/],
    [{ store: memoryStore() }, /store and queue belong together/],
    [{ queue: memoryQueue() }, /store and queue belong together/],
    [{ store: {}, queue: memoryQueue() }, /store is no store/],
    [{ store: memoryStore(), queue: {} }, /queue is no work queue/],
    [{ scheduleSeconds: [] }, /scheduleSeconds is \[\]/],
    [{ scheduleSeconds: [-1] }, /scheduleSeconds is \[-1\]/],
    [{ concurrency: 0 }, /concurrency is 0\. Give a whole number from 1 to 10000\./],
    [{ health: { breakerFailures: 0 } }, /health\.breakerFailures is 0/],
    [{ retentionDays: 0.5 }, /retentionDays is 0\.5/],
    [{ attemptTimeoutSeconds: 0 }, /attemptTimeoutSeconds is 0/]
  ]
  for (const [options, message] of wrong) {
    await t.rejects(async () => Fastify().register(webhooks, { ...good, ...options } as WebhooksOptions), { name: 'TypeError', message })
  }
})

t.test('routes without the plugin, without an owner or with a path that is none stop the start', async (t) => {
  await t.rejects(
    async () => Fastify().register(webhookRoutes, { owner: () => 'ada' }),
    /Register @concordat\/webhooks before webhookRoutes/
  )
  await t.rejects(async () => Fastify().register(webhookRoutes, {} as never), /owner is missing/)
  await t.rejects(async () => Fastify().register(webhookRoutes, { owner: () => 'ada', path: 'hooks/' }), /path is "hooks\/"/)
})

t.test('a process that does not deliver leaves it to others of the same queue', async (t) => {
  const queue = memoryQueue()
  const store = memoryStore()
  const arrived = Promise.withResolvers<void>()
  const { url } = await startWitness(t, Date.now, () => {
    arrived.resolve()
    return 200
  })
  const [emitting, delivering] = [Fastify(), Fastify()]
  t.teardown(async () => {
    await emitting.close()
    await delivering.close()
    await queue.close()
  })
  const options = { ...trustingLoopback, events, store, queue, mayReceive: 'everyone' as const }
  await emitting.register(webhooks, { ...options, delivers: false })
  await emitting.ready()
  await emitting.webhooks.subscribe('ada', { url, eventTypes: ['product.updated'] })
  await emitting.webhooks.emit('product.updated', {})
  await delivering.register(webhooks, options)
  await delivering.ready()
  await arrived.promise
})

t.test('the catalogue describes the webhooks of each version for OpenAPI 3.1', async (t) => {
  const { webhooks: ours } = await startService(t)
  for (const [version, total] of [
    [1, '1.00'],
    [2, { amount: '1.00', currency: 'EUR' }]
  ] as const) {
    t.match(ours.describe(version), {
      'order.created': {
        post: {
          operationId: 'webhook.order.created',
          description: 'An order was placed.',
          parameters: [{ in: 'header', name: 'webhook-id' }, { name: 'webhook-timestamp' }, { name: 'webhook-signature' }],
          requestBody: {
            content: {
              'application/json': {
                schema: { required: ['type', 'timestamp', 'data'], properties: { type: { const: 'order.created' } } },
                example: { type: 'order.created', data: { id: '7', total } }
              }
            }
          },
          responses: { '2XX': {}, '410': {} }
        }
      }
    })
  }
  t.strictSame(Object.keys(describeWebhooks(events)), ['order.created', 'product.updated', 'webhook.subscription.disabled', 'webhook.ping'])
})

t.test('errors are published in English and Spanish', async (t) => {
  for (const { message } of Object.values(webhooksErrors.definitions)) t.match(message, { en: String, es: String })
  for (const message of Object.values(webhooksErrors.fieldMessages)) t.match(message, { en: String, es: String })
})
