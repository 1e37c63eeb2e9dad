// A service that is built before a test replaces Date follows the replaced Date everywhere.
import { mock } from 'node:test'
import { memoryRevocationStore, ownTokens } from '@concordat/authentication'
import { testKit } from '@concordat/authentication/testing'
import conventions, { serverOptions, webhookRoutes } from '@concordat/conventions'
import { newSecret, signatureOf } from '@concordat/webhooks'
import { verifyWebhook } from '@concordat/webhooks/receiver'
import Fastify from 'fastify'
import t from 'tap'

const issuer = 'https://tokens.example.com'
const kit = testKit({ issuer, audience: 'shop' })
const Thing = { type: 'object', required: ['id'], properties: { id: { type: 'string' } } }
const future = '2030-01-01T00:00:00.000Z'
const documentation = 'https://docs.example.com/'
const as = (token: string) => ({ authorization: `Bearer ${token}` })

t.test('timestamps, sunset dates, webhooks and tokens follow a Date that is mocked after the service was built', async (t) => {
  const app = Fastify(serverOptions())
  await app.register(conventions, {
    publicUrl: 'https://api.example.com',
    versions: { 1: { deprecatedAt: '2028-01-01T00:00:00Z', sunsetAt: '2029-01-01T00:00:00Z', documentation }, 2: {} },
    transportSecurity: { dangerouslyAllowHttp: 'loopback' },
    authentication: {
      issuers: [ownTokens({ issuer, audience: 'shop', keys: kit.keys })],
      permissions: ['webhooks:read', 'webhooks:create', 'webhooks:update', 'webhooks:delete']
    },
    paginationQuery: { cursor: { secrets: ['fJ2mYp7Qw4Zt9LxN8vBc3KdR6sHg1TaE'] } },
    webhooks: {
      events: { 'thing.created': { description: 'A thing.', schema: Thing, example: { id: '1' } } },
      mayReceive: 'everyone',
      worker: false
    }
  })
  for (const version of [1, 2])
    await app.apiVersion(version, async (api) => {
      api.get('/things/:id', { config: { public: true }, schema: { response: { 200: Thing } } }, async () => ({ id: '1' }))
      if (version === 2) await api.register(webhookRoutes)
    })
  await app.ready()
  const revocations = memoryRevocationStore()
  t.teardown(() => app.close())
  const early = kit.token({ sub: 'ada' })
  t.equal((await app.inject('/v1/things/1')).statusCode, 200)

  mock.timers.enable({ apis: ['Date'], now: new Date(future) })
  t.teardown(() => mock.timers.reset())
  for (const url of ['/v2/things/1', '/v2/nothing', '/v2/things/%zz', '/v2/webhook-subscriptions']) {
    const response = await app.inject(url)
    t.equal(response.json()._meta.timestamp, future, `${url} ${response.statusCode}`)
  }
  t.equal((await app.inject('/v1/things/1')).statusCode, 410)

  const headers = as(kit.token({ sub: 'ada', scope: 'webhooks:create webhooks:read' }))
  t.equal((await app.inject({ url: '/v2/webhook-subscriptions', headers: as(early) })).statusCode, 401, 'the token has expired')
  const subscription = await app.inject({
    method: 'POST',
    url: '/v2/webhook-subscriptions',
    headers: { ...headers, 'idempotency-key': 'one' },
    payload: { url: 'https://hooks.example.com/', eventTypes: ['thing.created'] }
  })
  t.match([subscription.statusCode, subscription.json().data.createdAt], [201, future])

  const [id, timestamp, body, secret] = ['1', Date.parse(future) / 1000, '{}', newSecret()]
  const signed = {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatureOf({ id, timestamp, body }, [secret])
  }
  t.equal(verifyWebhook(signed, body, { keys: [secret] }).sentAt, Date.parse(future))
  await revocations.revoke({ kind: 'token', id: '1', until: Date.parse(future) - 1 })
  t.strictSame((await revocations.read()).revocations, [])
})
