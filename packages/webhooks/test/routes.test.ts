import dns from 'node:dns/promises'
import { publish } from '@concordat/plugin-kit/wiring'
import webhooks, {
  managedWebhookRoutes,
  memoryWebhookStore,
  type WebhookRoutesOptions,
  type WebhookStore,
  type WebhooksOptions,
  webhookRoutes
} from '@concordat/webhooks'
import { memoryWorkQueue } from '@concordat/work-queue'
import Fastify, { type FastifyReply, type InjectOptions } from 'fastify'
import t, { type Test } from 'tap'
import { day, events, hour, minute, start, startService, startWitness } from './service.ts'

const alive = setInterval(() => {}, 1000)
t.teardown(() => clearInterval(alive))
const path = '/webhook-subscriptions'
const input = { url: 'https://hooks.example.com/orders', eventTypes: ['order.created'] }
const uuid = /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/

/** Starts the service and returns it with a client. */
async function startClient(t: Test, options: Partial<WebhooksOptions> = {}) {
  const service = await startService(t, options)
  async function call(method: NonNullable<InjectOptions['method']>, url: string, payload?: object, owner = 'ada') {
    const response = await service.app.inject({ method, url: path + url, headers: { 'x-owner': owner }, ...(payload && { payload }) })
    return { status: response.statusCode, headers: response.headers, body: response.body === '' ? undefined : response.json() }
  }
  const subscribe = async (more = {}) => (await call('POST', '', { ...input, ...more })).body as { id: string; secret: string }
  return { ...service, call, subscribe }
}

t.test('creates a subscription with a secret that is shown only once, and reads it without the secret [W1]', async (t) => {
  const { call } = await startClient(t)
  const { status, headers, body } = await call('POST', '', { ...input, description: 'For the warehouse' })
  t.equal(status, 201)
  t.match(headers, { location: `${path}/${body.id}`, 'cache-control': 'no-store' })
  t.match(body, {
    id: uuid,
    ...input,
    description: 'For the warehouse',
    ordered: false,
    signature: 'hmac-sha256',
    status: 'enabled',
    secret: /^whsec_/,
    createdAt: new Date(start).toISOString()
  })
  const { secret: _, ...withoutSecret } = body
  t.strictSame((await call('GET', `/${body.id}`)).body, withoutSecret)
  t.strictSame((await call('GET', '')).body, [withoutSecret])
})

t.test('shows the public key of an ed25519 subscription, and no secret', async (t) => {
  const { call } = await startClient(t)
  const { body } = await call('POST', '', { ...input, signature: 'ed25519', ordered: true })
  t.match(body, { publicKey: /^whpk_/, signature: 'ed25519', ordered: true })
  t.equal(body.secret, undefined)
  t.match((await call('GET', `/${body.id}`)).body, { publicKey: body.publicKey })
  const rotated = (await call('POST', `/${body.id}/secrets`)).body
  t.match(rotated, { publicKey: /^whpk_/ })
  t.not(rotated.publicKey, body.publicKey)
})

t.test('returns 422 with the broken rule for a refused URL, at creation and at change, without a lookup [W5]', async (t) => {
  for (const method of ['resolve4', 'resolve6'] as const) t.intercept(dns, method, { value: () => t.fail('nothing must be looked up') })
  const service = await startService(t, { worker: false })
  const { id } = await service.webhooks.subscribe('ada', input)
  for (const [url, key] of [
    ['http://hooks.example.com', 'urlScheme'],
    ['https://10.0.0.1/', 'urlAddress'],
    ['https://hooks.example.com:22/', 'urlPort'],
    ['https://metadata', 'urlName'],
    ['https://a:b@example.com', 'urlUserinfo'],
    ['https://example.com/#a', 'urlFragment'],
    ['nonsense', 'urlFormat']
  ] as const) {
    for (const [method, target] of [
      ['POST', path],
      ['PATCH', `${path}/${id}`]
    ] as const) {
      const payload = method === 'POST' ? { ...input, url } : { url }
      const response = await service.app.inject({ method, url: target, headers: { 'x-owner': 'ada' }, payload })
      t.match(response.json(), { statusCode: 422, code: 'WEBHOOK_URL_REFUSED' }, url)
    }
    await t.rejects(service.webhooks.change('ada', id, { url }), { errors: [{ field: 'body.url', key }] })
  }
  t.match(await service.store.subscription(id), { url: input.url, revision: 1 })
})

t.test('returns 422 and names each unknown event type', async (t) => {
  const { call, webhooks: ours } = await startClient(t)
  const eventTypes = ['order.created', 'order.shipped', 'webhook.subscription.disabled', 'constructor']
  t.match(await call('POST', '', { ...input, eventTypes }), { status: 422, body: { code: 'WEBHOOK_EVENT_TYPE_UNKNOWN' } })
  await t.rejects(ours.subscribe('ada', { ...input, eventTypes }), {
    errors: [{ field: 'body.eventTypes.1' }, { field: 'body.eventTypes.3' }]
  })
  t.match(await call('POST', '', { ...input, eventTypes: [] }), { status: 400 })
})

t.test('returns 404 for subscriptions of other owners and for unknown subscriptions', async (t) => {
  const { call, subscribe, webhooks: ours, clock } = await startClient(t)
  const { id } = await subscribe()
  const other = await subscribe()
  await ours.emit('order.created', { total: { amount: '1' } })
  await clock.advance(0)
  const [delivery] = (await call('GET', `/${id}/deliveries`)).body
  const requests = [
    ['GET', ''],
    ['PATCH', '', {}],
    ['DELETE', ''],
    ['POST', '/secrets'],
    ['POST', '/pings'],
    ['GET', '/deliveries'],
    ['GET', `/deliveries/${delivery.id}`],
    ['GET', `/deliveries/${delivery.id}/attempts`],
    ['POST', `/deliveries/${delivery.id}/redeliveries`],
    ['POST', '/recoveries', { since: '2026-01-01T00:00:00Z' }]
  ] as const
  for (const [method, rest, payload] of requests) {
    for (const [target, owner] of [
      [id, 'max'],
      [crypto.randomUUID(), 'ada']
    ] as const) {
      const { status, body } = await call(method, `/${target}${rest}`, payload, owner)
      t.match([status, body.code], [404, 'WEBHOOK_SUBSCRIPTION_NOT_FOUND'], `${method} ${rest}`)
    }
  }
  t.match((await call('GET', `/${other.id}/deliveries/${delivery.id}`)).body.code, 'WEBHOOK_DELIVERY_NOT_FOUND')
  t.strictSame((await call('GET', '', undefined, 'max')).body, [])
})

t.test('an owner changes, disables, enables and removes a subscription', async (t) => {
  const { call, subscribe } = await startClient(t)
  const { id } = await subscribe({ description: 'Old' })
  const change = { url: 'https://other.example.com/', eventTypes: ['product.updated', 'product.updated'], description: 'New' }
  t.match((await call('PATCH', `/${id}`, change)).body, { ...change, eventTypes: ['product.updated'], status: 'enabled' })
  t.equal((await call('PATCH', `/${id}`, { description: null })).body.description, undefined)
  t.match((await call('PATCH', `/${id}`, { status: 'disabled' })).body, { status: 'disabled', disabledReason: 'byOwner' })
  t.equal((await call('PATCH', `/${id}`, { status: 'enabled' })).body.disabledReason, undefined)
  t.equal((await call('DELETE', `/${id}`)).status, 204)
  t.equal((await call('GET', `/${id}`)).status, 404)
})

t.test('returns 409 when an owner already has maxSubscriptions', async (t) => {
  const { app } = await startService(t, { maxSubscriptions: 2 })
  const create = async (owner: string) =>
    (await app.inject({ method: 'POST', url: path, headers: { 'x-owner': owner }, payload: input })).statusCode
  t.strictSame([await create('ada'), await create('ada'), await create('ada'), await create('max')], [201, 201, 409, 201])
})

t.test('counts the lists of an owner up to a limit, and no lists of others', async (t) => {
  const { call, subscribe, webhooks: ours, clock } = await startClient(t)
  const { url } = await startWitness(
    t,
    () => clock.now(),
    () => 200
  )
  const { id: subscriptionId } = await subscribe({ url })
  for (const total of ['1', '2']) await ours.emit('order.created', { total: { amount: total } })
  await clock.advance(minute)
  const [{ id: deliveryId }] = (await call('GET', `/${subscriptionId}/deliveries`)).body
  const counts = [{}, { subscriptionId }, { subscriptionId, status: 'failed' }, { subscriptionId, deliveryId }] as const
  t.strictSame(await Promise.all(counts.map(async (list) => ours.count('ada', list, 10))), [1, 2, 0, 1])
  t.equal(await ours.count('ada', { subscriptionId }, 1), 1)
  t.equal(await ours.count('max', {}, 10), 0)
  for (const list of [{ subscriptionId }, { subscriptionId, deliveryId }])
    await t.rejects(ours.count('max', list, 10), { code: 'WEBHOOK_SUBSCRIPTION_NOT_FOUND' })
})

t.test('a ping of a subscription that is removed at the same moment returns 404', async (t) => {
  const { call, subscribe } = await startClient(t, { store: { ...memoryWebhookStore(), addMessage: async () => false } })
  const { id } = await subscribe()
  t.match((await call('POST', `/${id}/pings`)).body, { statusCode: 404, code: 'WEBHOOK_SUBSCRIPTION_NOT_FOUND' })
})

t.test('a ping arrives with the id in the response, and a disabled subscription returns 409', async (t) => {
  const { call, subscribe, clock } = await startClient(t)
  const { url, seen } = await startWitness(
    t,
    () => clock.now(),
    () => 200
  )
  const { id } = await subscribe({ url })
  const { status, headers, body } = await call('POST', `/${id}/pings`)
  t.match([status, headers.location], [202, new RegExp(`^/webhook-subscriptions/${id}/deliveries/`)])
  await clock.advance(1000)
  t.match(seen, [{ headers: { 'webhook-id': body.messageId }, body: { type: 'webhook.ping', data: { subscriptionId: id } } }])
  t.equal(seen.length, 1, 'the URL is verified once')
  await call('PATCH', `/${id}`, { status: 'disabled' })
  t.match((await call('POST', `/${id}/pings`)).body, { statusCode: 409, code: 'WEBHOOK_SUBSCRIPTION_DISABLED' })
})

t.test('lists deliveries and attempts in pages, newest first, filtered by status', async (t) => {
  const { call, subscribe, clock, webhooks: ours } = await startClient(t)
  const { url } = await startWitness(
    t,
    () => clock.now(),
    (_seen, count) => (count > 3 ? 500 : 200)
  )
  const { id } = await subscribe({ url })
  for (let count = 0; count < 5; count++) {
    await ours.emit('order.created', { total: { amount: String(count) } })
    await clock.advance(1000)
  }
  const first = await call('GET', `/${id}/deliveries?perPage=3`)
  t.match(first.body, [{ status: 'pending', attempts: 1, eventType: 'order.created' }, { status: 'pending' }, { status: 'delivered' }])
  const next = /^<(.*)>; rel="next"$/.exec(String(first.headers['link']))?.[1] ?? ''
  const second = await call('GET', next.slice(path.length))
  t.match(second.body, [{ status: 'delivered' }, { status: 'delivered' }])
  t.equal(second.headers['link'], undefined)
  const pending = await call('GET', `/${id}/deliveries?status=pending&perPage=1`)
  t.match(pending.headers['link'], /status=pending&perPage=1&after=/)
  t.equal((await call('GET', `/${id}/deliveries?status=lost`)).status, 400)
  const [newest] = first.body
  t.match((await call('GET', `/${id}/deliveries/${newest.id}`)).body, { id: newest.id, nextAttemptAt: String })
  const attempts = (await call('GET', `/${id}/deliveries/${newest.id}/attempts`)).body
  t.match(attempts, [{ id: uuid, number: 1, statusCode: 500, startedAt: String, durationMilliseconds: Number }])
})

t.test('redelivers an finished delivery with the same webhook-id, and returns 409 for a pending one', async (t) => {
  const { call, subscribe, clock, webhooks: ours } = await startClient(t)
  const { url, seen } = await startWitness(
    t,
    () => clock.now(),
    (_seen, count) => (count === 3 ? 500 : 200)
  )
  const { id } = await subscribe({ url })
  const { id: messageId } = await ours.emit('order.created', { total: { amount: '1' } })
  await clock.advance(minute)
  const [delivery] = (await call('GET', `/${id}/deliveries`)).body
  const again = `/${id}/deliveries/${delivery.id}/redeliveries`
  const { status, headers, body } = await call('POST', again)
  t.match([status, body], [202, { id: delivery.id, messageId, status: 'pending' }])
  t.match(headers.location, new RegExp(`/${id}/deliveries/${delivery.id}$`))
  t.match((await call('POST', again)).body, { statusCode: 409, code: 'WEBHOOK_DELIVERY_PENDING' })
  await clock.advance(1000)
  t.match((await call('GET', `/${id}/deliveries/${delivery.id}`)).body, { status: 'delivered', attempts: 2 })
  await call('POST', again)
  await clock.advance(minute)
  t.match((await call('GET', `/${id}/deliveries/${delivery.id}`)).body, { status: 'delivered', attempts: 4 }, 'the schedule starts again')
  t.strictSame(
    seen.map(({ headers }) => headers['webhook-id']),
    [messageId, messageId, messageId, messageId]
  )
  t.equal(new Set(seen.map(({ text }) => text)).size, 1)
  await call('PATCH', `/${id}`, { status: 'disabled' })
  t.match((await call('POST', again)).body, { statusCode: 409, code: 'WEBHOOK_SUBSCRIPTION_DISABLED' })
})

t.test('a recovery delivers all failed deliveries of a time range again, and nothing else', async (t) => {
  const kept = memoryWebhookStore()
  const store: WebhookStore = {
    ...kept,
    changeDeliveries: async (selection, change) => kept.changeDeliveries({ ...selection, limit: 3 }, change)
  }
  const { call, subscribe, clock, webhooks: ours } = await startClient(t, { store })
  let status = 410
  const { url, seen } = await startWitness(
    t,
    () => clock.now(),
    () => status
  )
  const { id } = await subscribe({ url })
  for (let count = 0; count < 10; count++) await ours.emit('order.created', { total: { amount: '1' } })
  await clock.advance(day)
  await call('PATCH', `/${id}`, { status: 'enabled' })
  await ours.emit('order.created', { total: { amount: '1' } })
  await clock.advance(2 * hour)
  status = 200
  await call('PATCH', `/${id}`, { status: 'enabled' })
  const eventsSeen = () => seen.filter(({ body }) => body.type === 'order.created').length
  const before = eventsSeen()
  const since = new Date(start).toISOString()
  const until = new Date(start + hour).toISOString()
  t.match(await call('POST', `/${id}/recoveries`, { since, until }), {
    status: 202,
    headers: { location: `/webhook-subscriptions/${id}/deliveries` },
    body: { since, until }
  })
  await clock.advance(hour)
  t.equal(eventsSeen() - before, 10)
  t.match(await call('POST', `/${id}/recoveries`, { since }), { status: 202, body: { since, until: String } })
  await clock.advance(hour)
  t.equal(eventsSeen() - before, 11)
  for (const range of [
    { since, until: since },
    { since: until, until: since }
  ])
    t.match((await call('POST', `/${id}/recoveries`, range)).body, { statusCode: 422, code: 'WEBHOOK_RANGE_INVALID' })
  t.equal((await call('POST', `/${id}/recoveries`, {})).status, 400)
})

t.test('a recovery stops when its subscription is disabled', async (t) => {
  const { subscribe, clock, webhooks: ours, call } = await startClient(t)
  const { url, seen } = await startWitness(
    t,
    () => clock.now(),
    () => 410
  )
  const { id } = await subscribe({ url })
  await ours.emit('order.created', { total: { amount: '1' } })
  await clock.advance(1000)
  await call('PATCH', `/${id}`, { status: 'enabled' })
  await ours.recover('ada', id, start)
  await call('PATCH', `/${id}`, { status: 'disabled' })
  await clock.advance(hour)
  t.ok(seen.length <= 2)
})

t.test('a change whose precondition names another version returns 412 and changes nothing', async (t) => {
  let versions: readonly string[] | '*' | null = null
  const configs: Record<string, { validator?: (request: object) => Promise<object>; audit?: string }> = {}
  const app = Fastify()
  t.teardown(() => app.close())
  app.addHook('onRoute', ({ method, url, config }) => void (configs[`${String(method)} ${url}`] = config as object))
  // As conditional-caching does.
  publish(app, { defaultCache: 'private' })
  app.decorateReply('entityTag', function (this: FastifyReply, version: string) {
    return this.header('etag', `"${version}"`)
  })
  const preconditions = {
    versions: () => versions,
    failed: (version: string) => Object.assign(new Error(`Now ${version}.`), { statusCode: 412 })
  }
  app.decorateRequest('preconditions', { getter: () => preconditions })
  await app.register(webhooks, { events, mayReceive: 'everyone', store: memoryWebhookStore(), queue: memoryWorkQueue() })
  const options: WebhookRoutesOptions = {
    owner: () => 'ada',
    path: '/hooks',
    version: () => 2,
    routeConfig: (operation) => ({ audit: operation, otherConfigKeys: ['validator'] })
  }
  await app.register(webhookRoutes, { ...options, prefix: '/v2' })
  const created = await app.inject({ method: 'POST', url: '/v2/hooks', payload: input })
  const { id } = created.json()
  t.equal(created.headers['location'], `/v2/hooks/${id}`)
  t.equal(created.headers['etag'], '"1"')
  t.equal((await app.webhooks.subscription('ada', id))?.version, 2)
  const { validator, audit } = configs['PATCH /v2/hooks/:id']!
  t.equal(audit, 'changeSubscription')
  const found = await validator!({ params: { id } })
  t.match(found, { exists: true, etag: '1', lastModified: new Date(created.json().updatedAt) })
  t.strictSame(await validator!({ params: { id: crypto.randomUUID() } }), { exists: false })
  for (const [wanted, status] of [
    [['0'], 412],
    [['1'], 200],
    [['1'], 412],
    ['*', 200],
    [null, 200]
  ] as const) {
    versions = wanted
    t.equal((await app.inject({ method: 'PATCH', url: `/v2/hooks/${id}`, payload: {} })).statusCode, status)
  }
  const changed = await app.inject({ method: 'PATCH', url: `/v2/hooks/${id}`, payload: {} })
  t.equal(changed.headers['etag'], '"5"')
  versions = ['1']
  t.match((await app.inject({ method: 'DELETE', url: `/v2/hooks/${id}` })).json(), { statusCode: 412, message: 'Now 5.' })
  versions = ['5']
  t.equal((await app.inject({ method: 'DELETE', url: `/v2/hooks/${id}` })).statusCode, 204)
})

t.test('options.list replaces the responses of lists, and the envelope creates resources with links', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(webhooks, { events, mayReceive: 'everyone', store: memoryWebhookStore(), queue: memoryWorkQueue() })
  const wanted: unknown[] = []
  const links: string[] = []
  // As the envelope does.
  publish(app, { envelope: {} as never })
  app.decorateReply('created', function (this: FastifyReply, at: string, resource: object) {
    return this.code(201).header('x-path', at).send(resource)
  })
  app.decorateReply('link', (...link: string[]) => links.push(link.join(' ')))
  await app.register(webhookRoutes, {
    owner: () => 'ada',
    async list(_request, _reply, requested) {
      wanted.push([requested.operation, requested.parent])
      return requested.resources({ limit: 10 })
    }
  })
  const { headers, body } = await app.inject({ method: 'POST', url: path, payload: input })
  const { id } = JSON.parse(body)
  t.equal(headers['x-path'], `${path}/${id}`)
  t.ok(links.includes(`deliveries ${path}/${id}/deliveries GET`))
  t.match((await app.inject(`${path}?anything=goes`)).json(), [{ id }])
  t.strictSame((await app.inject(`${path}/${id}/deliveries`)).json(), [])
  t.strictSame(wanted, [
    ['listSubscriptions', 'ada'],
    ['listDeliveries', id]
  ])
})

t.test('an option in whose place the plugins around the routes are used stops the start, and the line names them', async (t) => {
  for (const [name, replacement] of [
    ['created', 'envelope, the routes use its reply.created.'],
    ['link', 'envelope, the routes use its reply.link.'],
    ['entityTag', 'conditional-caching, the routes use its reply.entityTag.'],
    ['preconditions', 'conditional-caching, the routes use its preconditions.']
  ] as const) {
    const app = Fastify()
    t.teardown(() => app.close())
    await app.register(webhooks, { events, mayReceive: 'everyone', store: memoryWebhookStore(), queue: memoryWorkQueue() })
    await t.rejects(async () => app.register(webhookRoutes, { owner: () => 'ada', [name]: () => {} }), {
      name: 'TypeError',
      message: `webhooks: options.${name} is unknown. Remove it. With @concordat/${replacement}`
    })
  }
})

t.test('a client that is not known gets 400 with the header to send', async (t) => {
  for (const owner of [() => undefined, () => '']) {
    for (const [clientHeader, named] of [
      [undefined, 'Authorization'],
      ['X-Owner', 'X-Owner']
    ] as const) {
      const app = Fastify()
      t.teardown(() => app.close())
      await app.register(webhooks, { events, mayReceive: 'everyone', store: memoryWebhookStore(), queue: memoryWorkQueue() })
      await app.register(webhookRoutes, { owner, clientHeader })
      for (const request of [{ url: path }, { method: 'POST', url: path, payload: input }] as const)
        t.match((await app.inject(request)).json(), {
          statusCode: 400,
          code: 'CLIENT_NOT_IDENTIFIED',
          message: new RegExp(`Send the ${named} header`)
        })
    }
  }
})

t.test('administrators list, read, disable and remove the subscriptions of all owners over HTTP, without secrets', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  await t.rejects(async () => Fastify().register(managedWebhookRoutes, {} as never), /options\.routeConfig must be a function/)
  await t.rejects(
    async () => Fastify().register(managedWebhookRoutes, { routeConfig: () => ({}) }),
    /managedWebhookRoutes requires the plugin/
  )
  await app.register(webhooks, { events, mayReceive: 'everyone', worker: false })
  const operations: string[] = []
  await app.register(managedWebhookRoutes, { routeConfig: (operation) => (operations.push(operation), {}) })
  await app.ready()
  t.strictSame([...new Set(operations)].toSorted(), [
    'changeManagedSubscription',
    'listManagedSubscriptions',
    'readManagedSubscription',
    'removeManagedSubscription'
  ])
  const path = '/managed-webhook-subscriptions'
  const input = { url: 'https://hooks.example.com', eventTypes: ['order.created'] }
  const one = await app.webhooks.subscribe('ada', input)
  const other = await app.webhooks.subscribe('max', input)
  const list = await app.inject(`${path}?perPage=1`)
  t.match(list.json(), [{ id: other.id, owner: 'max', status: 'enabled' }])
  t.notMatch(list.body, 'whsec_')
  t.match((await app.inject(`${path}/${one.id}`)).json(), { id: one.id, owner: 'ada' })
  const patch = async (payload: object) => app.inject({ method: 'PATCH', url: `${path}/${one.id}`, payload })
  t.match((await patch({ status: 'disabled' })).json(), { owner: 'ada', status: 'disabled', disabledReason: 'byAdministrator' })
  t.equal((await patch({ status: 'gone' })).statusCode, 400)
  t.equal((await app.inject({ method: 'DELETE', url: `${path}/${one.id}` })).statusCode, 204)
  t.equal((await app.inject(`${path}/${one.id}`)).statusCode, 404)
})
