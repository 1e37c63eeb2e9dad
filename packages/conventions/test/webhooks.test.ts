import { memoryRevocationStore, ownTokens, revocationFeed } from '@concordat/authentication'
import { testKit } from '@concordat/authentication/testing'
import conventions, { type ConventionsOptions, managedWebhookRoutes, serverOptions, webhookRoutes } from '@concordat/conventions'
import type { WebhookRoutesOptions } from '@concordat/webhooks'
import Fastify from 'fastify'
import t from 'tap'

// The tests know the shape of the bodies that they read.
// oxlint-disable-next-line typescript/no-explicit-any
type Loose = any

const issuer = 'https://tokens.example.com'
const kit = testKit({ issuer, audience: 'shop' })
const Order = { type: 'object', required: ['id'], properties: { id: { type: 'string' } } }
const events = { 'order.created': { description: 'An order was placed.', schema: Order, example: { id: '7' } } }
const input = { url: 'https://hooks.example.com/orders', eventTypes: ['order.created'] }
const path = '/v1/webhook-subscriptions'

/** Starts a service with webhooks in memory that delivers nothing, and returns a client that sends requests as a given user. */
async function start(options: Partial<ConventionsOptions> = {}, routes: Partial<WebhookRoutesOptions> = {}) {
  const app = Fastify(serverOptions())
  await app.register(conventions, {
    publicUrl: 'https://api.example.com',
    versions: { 1: { status: 'current' } },
    transportSecurity: { dangerouslyAllowHttp: 'loopback' },
    authentication: {
      issuers: [ownTokens({ issuer, audience: 'shop', keys: kit.keys })],
      permissions: ['webhooks:read', 'webhooks:create', 'webhooks:update', 'webhooks:delete'],
      roles: { client: ['webhooks:*'], auditor: ['webhooks:read'] }
    },
    paginationQuery: { cursor: { secrets: ['fJ2mYp7Qw4Zt9LxN8vBc3KdR6sHg1TaE'] } },
    webhooks: { events, mayReceive: 'everyone', worker: false },
    ...options
  })
  await app.apiVersion(1, async (v1) => {
    await v1.register(webhookRoutes, routes)
    v1.get('/orders/:id', { config: { public: true }, schema: { response: { 200: Order } } }, async () => ({ id: '7' }))
  })
  t.teardown(() => app.close())
  async function call(method: string, url: string, payload?: object, headers: Record<string, string> = {}, claims: object = {}) {
    const token = kit.token({ sub: 'ada', roles: ['client'], ...claims })
    const response = await app.inject({
      method: method as 'GET',
      url: url.replace('https://api.example.com', ''),
      headers: { authorization: `Bearer ${token}`, ...headers },
      ...(payload && { payload })
    })
    return { status: response.statusCode, headers: response.headers, body: response.body === '' ? undefined : response.json() }
  }
  return { app, call }
}

function linkIn({ body }: { body: Loose }, wanted: string): string | undefined {
  return body._links.find(({ rel }: Loose) => rel === wanted)?.href
}

const idsOf = ({ body }: { body: Loose }) => body.data.map(({ id }: Loose) => id)
const eventsOf = ({ body }: { body: Loose }) => body.data.map(({ messageId }: Loose) => Number(messageId.at(-1)))

t.test('one line adds routes to a version, with envelope, permissions, preconditions and keys [W1] [U10] [O1]', async (t) => {
  const { call } = await start()
  const created = await call('POST', path, input, { 'idempotency-key': 'once' })
  const { id, secret } = created.body.data
  t.match(created, { status: 201, headers: { location: `https://api.example.com${path}/${id}`, 'cache-control': 'no-store' } })
  t.match(secret, /^whsec_/)
  t.strictSame(linkIn(created, 'self'), `https://api.example.com${path}/${id}`)
  const replay = await call('POST', path, input, { 'idempotency-key': 'once' })
  t.equal(replay.body.data.id, id)
  t.equal(replay.headers['idempotency-status'], 'incomplete')

  const read = await call('GET', `${path}/${id}`)
  t.strictSame(
    read.body._links.map(({ rel, method }: Loose) => `${rel} ${method}`),
    ['self GET', 'collection GET', 'deliveries GET', 'rotate-secret POST', 'ping POST', 'recover POST']
  )
  t.notOk('secret' in read.body.data)
  t.match((await call('PATCH', `${path}/${id}`, { description: 'x' })).body.error, { status: 428, code: 'PRECONDITION_REQUIRED' })
  const etag = String(read.headers.etag)
  const changed = await call('PATCH', `${path}/${id}`, { description: 'x' }, { 'if-match': etag })
  t.match(changed, { status: 200, body: { data: { description: 'x' } } })
  t.strictSame(changed.body._links.slice(1), read.body._links.slice(1), 'the same links besides self')
  t.match((await call('DELETE', `${path}/${id}`, undefined, { 'if-match': etag })).body.error, { status: 412 })
  t.match((await call('GET', `${path}/${id}`, undefined, {}, { sub: 'max' })).body.error, {
    status: 404,
    code: 'WEBHOOK_SUBSCRIPTION_NOT_FOUND'
  })
  t.match((await call('POST', path, input, {}, { roles: ['auditor'] })).body.error, { status: 403, code: 'INSUFFICIENT_PERMISSION' })
  t.equal((await call('DELETE', `${path}/${id}`, undefined, { 'if-match': String(changed.headers.etag) })).status, 204)
})

t.test('errors are in the language of the client [G1] [W5]', async (t) => {
  const { call } = await start()
  const { body } = await call('POST', path, { ...input, url: 'http://hooks.example.com' }, { 'accept-language': 'es' })
  t.match(body.error, { status: 422, error: 'ValidationError', code: 'WEBHOOK_URL_REFUSED', errors: [{ field: 'body.url' }] })
  t.match(body.error.message, /No se pueden enviar/)
})

t.test('lists are paged by cursor, forward and backward, also past removed items [Q2] [E2]', async (t) => {
  const { call, app } = await start()
  const { id } = (await call('POST', path, input)).body.data
  for (const number of [1, 2, 3, 4, 5]) await app.webhooks.emit('order.created', { id: String(number) }, { id: `event-${number}` })
  const list = `${path}/${id}/deliveries`
  const first = await call('GET', `${list}?perPage=2&status=pending`)
  t.strictSame([eventsOf(first), first.body._meta.pagination], [[5, 4], { page: 1, perPage: 2, totalPages: 3, totalItems: 5 }])
  t.notOk(linkIn(first, 'prev'))
  const second = await call('GET', linkIn(first, 'next') as string)
  t.strictSame(eventsOf(second), [3, 2])
  t.strictSame(eventsOf(await call('GET', linkIn(second, 'prev') as string)), [5, 4])
  const last = await call('GET', linkIn(second, 'last') as string)
  t.strictSame([eventsOf(last), last.body._meta.pagination.page], [[2, 1], 3])
  t.notOk(linkIn(last, 'next'))
  t.strictSame(eventsOf(await call('GET', `${list}?sort=id&perPage=3`)), [1, 2, 3])
  t.strictSame((await call('GET', `${list}?perPage=1&fields=eventType`)).body.data.map(Object.keys), [['id', 'eventType']])
  const failed = (await call('GET', `${list}?status=failed`)).body
  t.match(failed, { data: [], _meta: { pagination: { page: 1, totalPages: 0, totalItems: 0 } } })
  t.match((await call('GET', `${list}?status=lost`)).body.error, { status: 422, code: 'INVALID_QUERY_PARAMETERS' })

  const [delivery] = first.body.data
  const found = await call('GET', `${list}/${delivery.id}`)
  t.strictSame(found.body.data, delivery)
  t.strictSame(
    found.body._links.map(({ rel, method }: Loose) => `${rel} ${method}`),
    ['self GET', 'collection GET', 'up GET', 'attempts GET'],
    'a pending delivery cannot be redelivered'
  )
  const attempts = await call('GET', linkIn(found, 'attempts') as string)
  t.match(attempts, { status: 200, body: { data: [], _meta: { pagination: { page: 1, totalItems: 0 } } } })
  t.match((await call('GET', path)).body.data, [{ id }])
})

t.test('the prev link works on an empty page after the end of the list was removed', async (t) => {
  const { call } = await start()
  const ids: string[] = []
  for (let count = 0; count < 4; count += 1) ids.unshift((await call('POST', path, input)).body.data.id)
  const forward = await call('GET', `${path}?perPage=2`)
  const backward = await call('GET', `${path}?perPage=2&sort=id`)
  const [behind, before] = [linkIn(forward, 'next') as string, linkIn(backward, 'next') as string]
  for (const id of ids.slice(2)) await call('DELETE', `${path}/${id}`, undefined, { 'if-match': '*' })
  const emptied = await call('GET', behind)
  t.strictSame(idsOf(emptied), [])
  // The row of the cursor itself is part of the way back.
  t.strictSame(idsOf(await call('GET', linkIn(emptied, 'prev') as string)), ids.slice(0, 2))
  t.strictSame(idsOf(await call('GET', before)), [ids[1], ids[0]])
  for (const id of ids.slice(0, 2)) await call('DELETE', `${path}/${id}`, undefined, { 'if-match': '*' })
  const nothing = await call('GET', before)
  t.strictSame(idsOf(await call('GET', linkIn(nothing, 'prev') as string)), [])
})

t.test('the description has the events, the routes and their errors [Q13] [X3]', async (t) => {
  const { app } = await start()
  const document: Loose = (await app.inject('/v1/openapi')).json()
  t.strictSame(Object.keys(document.webhooks), ['order.created', 'webhook.subscription.disabled', 'webhook.ping'])
  t.strictSame(document.components.schemas.OrderCreatedEvent.properties.data, { $ref: '#/components/schemas/Order' })
  const { post } = document.paths[`${path}/{id}/deliveries/{deliveryId}/redeliveries`]
  const conflict = document.components.responses[post.responses[409].$ref.split('/').at(-1)].content['application/json']
  t.strictSame(
    Object.keys(conflict.examples).filter((code) => code.startsWith('WEBHOOK')),
    ['WEBHOOK_DELIVERY_PENDING', 'WEBHOOK_SUBSCRIPTION_DISABLED']
  )
  const { patch, get } = document.paths[`${path}/{id}`]
  t.match([patch['x-permissions'], patch['x-if-match'], get['x-permissions']], [['webhooks:update'], 'required', ['webhooks:read']])
  t.ok(document.paths[path].post.parameters.some(({ name }: Loose) => name === 'Idempotency-Key'))
})

t.test('the routes work without the other plugins', async (t) => {
  const others = { envelope: false, idempotency: false, paginationQuery: false, conditionalCaching: false, errorCatalogue: false } as const
  const { call } = await start({ ...others, openapi: false, authentication: false }, { owner: () => 'ada' })
  const created = await call('POST', path, input)
  t.match(created, { status: 201, headers: { location: `${path}/${created.body.id}` } })
  t.match((await call('PATCH', `${path}/${created.body.id}`, { description: 'x' })).body, { description: 'x' })
  t.match((await call('GET', path)).body, [{ id: created.body.id }])
})

t.test('options of the routes override those of the preset', async (t) => {
  const { call } = await start({}, { path: '/hooks', owner: () => 'everybody', routeConfig: () => ({ requireIfMatch: false }) })
  const { id } = (await call('POST', '/v1/hooks', input)).body.data
  t.equal((await call('PATCH', `/v1/hooks/${id}`, { description: 'x' }, {}, { sub: 'max' })).status, 200)
})

t.test('without authentication, the routes need no permission and accept no keys', async (t) => {
  const { app, call } = await start({ authentication: false }, { owner: () => 'everybody' })
  const created = await call('POST', path, input, { 'idempotency-key': 'once' })
  t.equal(created.status, 201)
  t.not((await call('POST', path, input, { 'idempotency-key': 'once' })).body.data.id, created.body.data.id)
  t.equal((await app.inject(`${path}/${created.body.data.id}`)).statusCode, 200)
})

t.test('routes without the option webhooks or without an owner stop the boot', async (t) => {
  await t.rejects(start({ webhooks: undefined }), { message: /conventions: webhookRoutes requires options\.webhooks\. Set/ })
  await t.rejects(start({ authentication: false }), { message: /webhooks: options\.owner must be a function/ })
})

t.test('a handler that emits data which does not match the schema gets 500, and the log names the event type and the field', async (t) => {
  const lines: string[] = []
  const app = Fastify({ ...serverOptions(), logger: { level: 'info', stream: { write: (line) => void lines.push(line) } } })
  await app.register(conventions, {
    publicUrl: 'https://api.example.com',
    versions: { 1: { status: 'current' } },
    transportSecurity: { dangerouslyAllowHttp: 'loopback' },
    authentication: { issuers: [ownTokens({ issuer, audience: 'shop', keys: kit.keys })], permissions: ['webhooks:read'] },
    paginationQuery: { cursor: { secrets: ['fJ2mYp7Qw4Zt9LxN8vBc3KdR6sHg1TaE'] } },
    webhooks: { events, mayReceive: 'everyone', worker: false }
  })
  await app.apiVersion(1, async (v1) => {
    v1.post(
      '/orders',
      {
        config: { public: true, idempotency: 'off' },
        schema: { body: { type: 'object', additionalProperties: true }, response: { 201: Order } }
      },
      async ({ body }, reply) => {
        await app.webhooks.emit('order.created', body)
        return reply.created('/orders/7', { id: '7' })
      }
    )
  })
  t.teardown(() => app.close())
  const post = (payload: object) => app.inject({ method: 'POST', url: '/v1/orders', payload })
  t.equal((await post({ id: '7', password_hash: 'x' })).statusCode, 201)
  const refused = await post({ id: 7, password_hash: 'x' })
  t.match(refused.json().error, { status: 500, code: 'INTERNAL_ERROR' })
  t.notMatch(refused.body, /order\.created|schema/)
  const errors = lines.map((line) => JSON.parse(line) as { level: number; err?: { message: string } }).filter(({ level }) => level >= 50)
  t.match(errors, [
    {
      err: {
        message:
          'webhooks: the data of the event "order.created" does not match its schema: id must be string. Correct the data that is passed to emit.'
      }
    }
  ])
})

const keyed = (key: string) => ({ 'idempotency-key': key })

t.test('a secret is not replayed; the replay links to the rotation, which works with a new key [I3] [W3]', async (t) => {
  const { app, call } = await start({ openapi: {} })
  const created = await call('POST', path, input, keyed('creation'))
  const { secret, ...subscription } = created.body.data
  const replay = await call('POST', path, input, keyed('creation'))
  t.strictSame([replay.status, replay.body.data], [201, subscription])
  t.strictSame(replay.body._links, created.body._links)
  t.match(replay.headers, { 'idempotency-replayed': 'true', 'idempotency-status': 'incomplete', location: created.headers.location })

  const rotation = linkIn(replay, 'rotate-secret') as string
  const rotated = await call('POST', rotation, {}, keyed('rotation'))
  t.match(rotated, { status: 201, body: { data: { secret: /^whsec_/, oldKeysEndAt: String } } })
  t.not(rotated.body.data.secret, secret)
  const again = await call('POST', rotation, {}, keyed('rotation'))
  t.strictSame([again.status, again.body.data], [201, { oldKeysEndAt: rotated.body.data.oldKeysEndAt }])
  t.equal(linkIn(again, 'rotate-secret'), rotation)
  const third = await call('POST', rotation, {}, keyed('another'))
  t.not(third.body.data.secret, rotated.body.data.secret)

  const { etag } = (await call('GET', `${path}/${subscription.id}`)).headers
  t.equal((await call('DELETE', `${path}/${subscription.id}`, undefined, { 'if-match': String(etag) })).status, 204)
  for (const [key, url, body] of [
    ['creation', path, input],
    ['rotation', rotation, {}]
  ] as const) {
    const late = await call('POST', url, body, keyed(key))
    t.equal(late.headers['idempotency-replayed'], 'true')
    t.notMatch(JSON.stringify(late.body), /whsec_/)
  }
  const { components } = (await app.inject('/v1/openapi')).json()
  t.match(components.schemas.WebhookSubscriptionWithSecret.properties.secret, {
    'x-secret': true,
    description: /a replay of the response does not have it/
  })
  t.notOk(components.schemas.WebhookSubscriptionWithSecret.required.includes('secret'))
})

const issuers = [ownTokens({ issuer, audience: 'shop', keys: kit.keys })]
const permissions = ['webhooks:read', 'webhooks:create', 'webhooks:update', 'webhooks:delete']

t.test('a revocation of all tokens of a user disables the subscriptions of the user, and a logout does not [U4]', async () => {
  const revocations = revocationFeed({ store: memoryRevocationStore() })
  const { app, call } = await start({ authentication: { issuers, permissions, roles: { client: ['webhooks:*'] }, revocations } })
  await app.ready()
  const { id } = (await call('POST', path, input)).body.data
  const ofMax = (await call('POST', path, input, {}, { sub: 'max' })).body.data.id
  const until = Date.now() + 900_000
  const statusOf = async (one: string, sub: string) => (await call('GET', `${path}/${one}`, undefined, {}, { sub })).body.data
  for (const kind of ['session', 'token', 'everything'] as const) await revocations.revoke({ kind, id: 'ada', issuedBefore: 1, until })
  t.match(await statusOf(id, 'ada'), { status: 'enabled' })
  await revocations.revoke({ kind: 'subject', id: 'ada', issuedBefore: 1, until })
  t.match(await statusOf(id, 'ada'), { status: 'disabled', disabledReason: 'accessRevoked' })
  t.match(await statusOf(ofMax, 'max'), { status: 'enabled' })
  t.equal((await call('DELETE', `${path}/${id}`, undefined, { 'if-match': '*' })).status, 204, 'the owner can still remove it')
})

t.test('routes with their own owner name the owners of a user, or the start stops', async () => {
  const revocations = revocationFeed({ store: memoryRevocationStore() })
  const authentication = { issuers, permissions, roles: { client: ['webhooks:*'] }, revocations }
  const routes: Partial<WebhookRoutesOptions> = { owner: ({ principal }) => `user ${principal?.subject}` }
  await t.rejects(start({ authentication }, routes), /webhookRoutes has its own option owner\. Set options\.webhooks\.ownersOf/)
  const webhooks = { events, mayReceive: 'everyone', worker: false, ownersOf: (subject: string) => [`user ${subject}`] } as const
  const { app, call } = await start({ authentication, webhooks }, routes)
  await app.ready()
  const { id } = (await call('POST', path, input)).body.data
  await revocations.revoke({ kind: 'subject', id: 'ada', issuedBefore: 1, until: Date.now() + 900_000 })
  t.match((await call('GET', `${path}/${id}`)).body.data, { status: 'disabled' })
})

t.test('administrators need permissions of their own for the subscriptions of all owners [U10] [O1]', async () => {
  const managing = ['managed-webhooks:read', 'managed-webhooks:update', 'managed-webhooks:delete']
  const roles = { client: ['webhooks:*'], administrator: ['managed-webhooks:*'] }
  const { app, call } = await start({ authentication: { issuers, permissions: [...permissions, ...managing], roles } })
  await app.apiVersion(1, async (v1) => {
    await v1.register(managedWebhookRoutes)
  })
  const { id } = (await call('POST', path, input)).body.data
  const managed = '/v1/managed-webhook-subscriptions'
  const administrator = { sub: 'root', roles: ['administrator'] }
  t.match((await call('GET', managed)).status, 403)
  t.match((await call('DELETE', `${managed}/${id}`, undefined, { 'if-match': '*' })).status, 403)
  t.match(await call('GET', managed, undefined, {}, administrator), {
    status: 200,
    body: { data: [{ id, owner: JSON.stringify([issuer, 'user', 'ada']) }], _meta: { pagination: {} } }
  })
  const read = await call('GET', `${managed}/${id}`, undefined, {}, administrator)
  t.equal(linkIn(read, 'collection'), `https://api.example.com${managed}`)
  t.equal((await call('PATCH', `${managed}/${id}`, { status: 'disabled' }, {}, administrator)).status, 428)
  const etag = { 'if-match': String(read.headers.etag) }
  t.match(await call('PATCH', `${managed}/${id}`, { status: 'disabled' }, etag, administrator), {
    status: 200,
    body: { data: { disabledReason: 'byAdministrator' } }
  })
  t.equal((await call('DELETE', `${managed}/${id}`, undefined, etag, administrator)).status, 412)
  const refused = await call('PATCH', `${path}/${id}`, { status: 'enabled' }, { 'if-match': '*' })
  t.match(refused, { status: 409, body: { error: { code: 'WEBHOOK_DISABLED_BY_ADMINISTRATOR' } } })
  t.equal((await call('DELETE', `${managed}/${id}`, undefined, { 'if-match': '*' }, administrator)).status, 204)
  t.equal((await call('GET', `${path}/${id}`)).status, 404)
})

t.test('the subscriptions of all owners cannot be managed without authentication', async () => {
  const { app } = await start({ authentication: false }, { owner: () => 'ada' })
  const add = async () => {
    await app.apiVersion(1, async (v1) => {
      await v1.register(managedWebhookRoutes)
    })
  }
  await t.rejects(add, /managedWebhookRoutes requires authentication/)
})
