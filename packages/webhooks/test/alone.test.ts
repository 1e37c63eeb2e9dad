import webhooks, { memoryWebhookStore, type WebhooksOptions, webhookRoutes } from '@concordat/webhooks'
import { memoryWorkQueue } from '@concordat/work-queue'
import Fastify from 'fastify'
import t from 'tap'
import { events, startService, startWitness } from './service.ts'
import { allowingLoopback } from './tls-receiver.ts'

const alive = setInterval(() => {}, 1000)
t.teardown(() => clearInterval(alive))

t.test('plain Fastify with only this plugin delivers, on the system clock, and warns that everything is in memory', async (t) => {
  const lines: string[] = []
  const app = Fastify({ logger: { level: 'info', stream: { write: (line) => void lines.push(line) } } })
  t.teardown(() => app.close())
  await app.register(webhooks, { ...allowingLoopback, events, mayReceive: 'everyone', scheduleSeconds: [0, 0.01] })
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
  t.match(lines[0], /undelivered events are in memory and are lost when the process ends/)
  t.match(lines.join(''), new RegExp(`"subscriptionId":"${id}","reason":"gone".*"webhooks: a subscription was disabled"`))
  t.match(lines.join(''), /a delivery has failed permanently/)
})

t.test('rejects invalid options at start with a one-line message', async (t) => {
  const good = { events, mayReceive: 'everyone' as const }
  const form = { description: '', schema: {}, example: {} }
  const wrong: [Partial<Record<keyof WebhooksOptions, unknown>>, RegExp][] = [
    [{ events: {} }, /^webhooks: options\.events is empty\./],
    [{ events: undefined }, /^webhooks: options\.events is empty\./],
    [{ events: { 'order created': form } }, /options\.events contains the invalid type "order created"\. Use words separated by dots/],
    [{ events: { 'webhook.ping': form } }, /types that start with "webhook\." are reserved/],
    [{ events: { a: { ...form, schema: undefined } } }, /options\.events "a" must have a schema and an example/],
    [{ events: { a: { ...form, versions: { 1: { schema: {} } } } } }, /options\.events "a" version 1 must have/],
    [{ mayReceive: undefined }, /options\.mayReceive must be "everyone" or a function/],
    [{ store: memoryWebhookStore() }, /options\.store and options\.queue must be set together/],
    [{ queue: memoryWorkQueue() }, /options\.store and options\.queue must be set together/],
    [{ store: {}, queue: memoryWorkQueue() }, /options\.store must implement WebhookStore/],
    [{ store: memoryWebhookStore(), queue: {} }, /options\.queue must implement WorkQueue/],
    [{ scheduleSeconds: [] }, /options\.scheduleSeconds must be .*but is \[\]/],
    [{ scheduleSeconds: [-1] }, /options\.scheduleSeconds must be .*but is \[-1\]/],
    [{ concurrency: 0 }, /options\.concurrency must be an integer from 1 to 10000, but is 0\.$/],
    [{ retentionDays: 0.5 }, /options\.retentionDays must be an integer from 1 to 3650, but is 0\.5\.$/],
    [{ attemptTimeoutSeconds: 0 }, /options\.attemptTimeoutSeconds must be a number from 0\.001 to 60, but is 0\.$/]
  ]
  for (const [options, message] of wrong) {
    const app = Fastify()
    app.register(webhooks, { ...good, ...options } as WebhooksOptions)
    await t.rejects(async () => app.ready(), { name: 'TypeError', message })
  }
})

t.test('rejects routes at start without the plugin, without an owner, or with an invalid path', async (t) => {
  await t.rejects(
    async () => Fastify().register(webhookRoutes, { owner: () => 'ada' }),
    /Register @concordat\/webhooks before webhookRoutes/
  )
  await t.rejects(async () => Fastify().register(webhookRoutes, {} as never), /options\.owner must be a function/)
  await t.rejects(
    async () => Fastify().register(webhookRoutes, { owner: () => 'ada', path: 'hooks/' }),
    /options\.path must be .*but is "hooks\/"/
  )
})

t.test('a process with worker: false leaves deliveries to other processes on the same queue', async (t) => {
  const queue = memoryWorkQueue()
  const store = memoryWebhookStore()
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
  const options = { ...allowingLoopback, events, store, queue, mayReceive: 'everyone' as const }
  await emitting.register(webhooks, { ...options, worker: false })
  await emitting.ready()
  await emitting.webhooks.subscribe('ada', { url, eventTypes: ['product.updated'] })
  await emitting.webhooks.emit('product.updated', {})
  await delivering.register(webhooks, options)
  await delivering.ready()
  await arrived.promise
})

t.test('describe returns the webhooks of each API version for OpenAPI 3.1', async (t) => {
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
  t.strictSame(Object.keys(ours.describe()), ['order.created', 'product.updated', 'webhook.subscription.disabled', 'webhook.ping'])
})
