// The longest values that the packages accept and write have room in what the description publishes. That longer ones are refused is tested in each package.
import { connect } from 'node:http2'
import { text } from 'node:stream/consumers'
import { memoryAuditTrailStore } from '@concordat/audit-trail'
import { ownTokens } from '@concordat/authentication'
import { testKit } from '@concordat/authentication/testing'
import conventions, {
  auditTrailRoutes,
  managedWebhookRoutes,
  serverOptions,
  versionClientRoutes,
  webhookRoutes
} from '@concordat/conventions'
import { responseChecker } from '@concordat/openapi/testing'
import { defineErrors } from '@concordat/plugin-kit/api-error'
import { until } from '@concordat/test-harness/until'
import Fastify, { type FastifyReply } from 'fastify'
import t from 'tap'

// The tests know the shape of the bodies that they read.
// oxlint-disable-next-line typescript/no-explicit-any
type Loose = any

const publicUrl = `https://api.example.com/${'a'.repeat(2048 - 24)}`
const issuer = 'https://tokens.example.com'
const kit = testKit({ issuer, audience: 'shop' })
const client = 'c'.repeat(256)
const subject = 's'.repeat(255)
const many = Array.from(
  { length: 32 },
  (_, index) => `${'p'.repeat(125)}:${String.fromCharCode(97 + (index % 26))}${index < 26 ? 'a' : 'b'}`
)
const used = ['audit:read', 'version-clients:read', 'webhooks:read', 'webhooks:create', 'webhooks:update', 'webhooks:delete'].concat([
  'managed-webhooks:read',
  'managed-webhooks:update',
  'managed-webhooks:delete'
])
const code = `A${'B'.repeat(99)}`
const message = 'é'.repeat(3000)
const errors = defineErrors(
  { [code]: { statusCode: 409, message: { en: message, es: message }, remedy: 'Wait.' } },
  { long: { en: message, es: message } }
)
const Thing = { type: 'object', required: ['id'], properties: { id: { type: 'string' } } } as const
const event = { description: 'A thing.', schema: Thing, example: { id: '7' } }
const type = Array.from({ length: 8 }, () => 'e'.repeat(64)).join('.')
const consumes = Array.from({ length: 8 }, (_, index) => `application/${'x'.repeat(index === 0 ? 82 : 112)}${index}+json`)
const ownLimit = { limit: 1e9, windowSeconds: 31 * 86_400 }
const route = `/${'ra'.repeat(1000)}s`
const own = `/l${'la'.repeat(123)}s`

async function start() {
  const auditTrail = memoryAuditTrailStore()
  const uses: Loose[] = []
  const versionUsage = {
    add: async (added: readonly Loose[]) => void uses.push(...added),
    list: async () => uses.map(({ day, ...use }) => ({ ...use, days: [{ day, requests: use.requests }] }))
  }
  const app = Fastify(serverOptions())
  await app.register(conventions, {
    publicUrl,
    versions: { 1: { status: 'current' } },
    transportSecurity: { dangerouslyAllowHttp: 'loopback' },
    authentication: {
      issuers: [ownTokens({ issuer, audience: 'shop', keys: kit.keys })],
      permissions: [...used, ...many],
      maxTokenLength: 16_384
    },
    errorCatalogue: { include: [errors] },
    rateLimiting: { addressLimit: ownLimit, clientLimit: ownLimit },
    paginationQuery: { cursor: { secrets: ['fJ2mYp7Qw4Zt9LxN8vBc3KdR6sHg1TaE'] } },
    stores: { auditTrail, versionUsage },
    webhooks: { events: { [type]: event }, mayReceive: 'everyone', worker: false }
  })
  await app.apiVersion(1, async (v1) => {
    await v1.register(webhookRoutes)
    await v1.register(managedWebhookRoutes)
    await v1.register(auditTrailRoutes)
    await v1.register(versionClientRoutes)
    const config = { permissions: ['audit:read'], rateLimit: { ...ownLimit, scope: 'address' } } as const
    v1.get(own, { config, schema: { response: { 200: Thing } } }, async (_request, reply) => {
      reply.link('r'.repeat(256), `/${'h'.repeat(16_384 - publicUrl.length - 4)}`, 'M'.repeat(32))
      reply.entityTag('v'.repeat(244))
      return { id: '7' }
    })
    v1.get('/conflicts/:id', { config: { public: true, openapi: { errors: [code] } }, schema: { response: { 200: Thing } } }, async () => {
      throw errors.create(code, { errors: Array.from({ length: 150 }, () => ({ field: 'f'.repeat(2000), key: 'long' as const })) })
    })
    v1.post(
      '/forms',
      { config: { public: true, idempotency: 'off', consumes }, schema: { body: Thing, response: { 201: Thing } } },
      created
    )
    v1.post(route, { config: { permissions: many, idempotency: 'off' }, schema: { response: { 201: Thing } } }, created)
  })
  await app.ready()
  t.teardown(() => app.close())
  const check = responseChecker((await app.inject('/v1/openapi')).json())
  return { app, auditTrail, uses, check }
}

async function created(_request: unknown, reply: FastifyReply) {
  return reply.created('/things/7', { id: '7' })
}

t.test('the longest values that the packages accept match the description [E1] [E4] [K1] [V7]', async (t) => {
  const { app, auditTrail, uses, check } = await start()
  const tokenOf = (scope: string) => ({ authorization: `Bearer ${kit.token({ sub: subject, client_id: client, scope })}` })
  async function send(method: string, url: string, headers: Record<string, string> = {}, payload?: object) {
    const response = await app.inject({ method: method as 'GET', url, headers, ...(payload && { payload }) })
    const { statusCode: status, rawPayload: body } = response
    t.strictSame(check({ method, url, status, headers: response.headers, body }), [], `${method} ${url.slice(0, 40)} ${status}`)
    return response
  }
  const admin = tokenOf(used.join(' '))
  const thing = await send('GET', `/v1${own}`, admin)
  t.equal(thing.statusCode, 200)
  t.equal(thing.json()._links[1].href.length, 16_384)
  t.equal(String(thing.headers['ratelimit-policy']).split(', ').length, 3)
  const conflict = (await send('GET', '/v1/conflicts/7')).json().error
  t.strictSame([conflict.code, conflict.message.length, conflict.errors.length], [code, 2048, 100])
  const form = await send('POST', '/v1/forms', { 'content-type': 'text/plain' }, undefined)
  const refused = await send('POST', '/v1/forms', { 'content-type': 'application/other' }, { id: '7' })
  t.strictSame([form.statusCode, refused.statusCode, String(refused.headers['accept']).length], [422, 415, 1024])
  const forbidden = await send('POST', `/v1${route}`, tokenOf(''))
  t.strictSame([forbidden.statusCode, String(forbidden.headers['www-authenticate']).length], [403, 4183])
  t.equal((await send('POST', `/v1${route}`, tokenOf(many.join(' ')))).statusCode, 201)

  const subscription = { url: `https://hooks.example.com/${'u'.repeat(2022)}`, eventTypes: [type], description: 'd'.repeat(500) }
  for (const signature of ['hmac-sha256', 'ed25519']) {
    const { json } = await send('POST', '/v1/webhook-subscriptions', admin, { ...subscription, signature })
    const { id } = json().data
    await app.webhooks.emit(type, { id: '7' }, { id: `${'w'.repeat(63)}${signature.length % 10}` })
    for (let time = 0; time < 3; time += 1) await send('POST', `/v1/webhook-subscriptions/${id}/secrets`, admin)
    const { data } = (await send('GET', `/v1/webhook-subscriptions/${id}/deliveries`, admin)).json()
    t.ok(data.length > 0, 'deliveries')
  }
  await app.webhooks.subscribe('o'.repeat(1024), subscription)
  const managed = (await send('GET', '/v1/managed-webhook-subscriptions', admin)).json().data
  t.equal(Math.max(...managed.map(({ owner }: Loose) => owner.length)), 1024)

  await until(() => auditTrail.source.records().length >= 4)
  const records = (await send('GET', '/v1/audit-records', admin)).json().data
  const longest = records.find(({ permissions }: Loose) => permissions.length === 32)
  t.strictSame([longest.subject, longest.client, longest.route.length, longest.path.length], [subject, client, 1024, 1024])
  uses.push({ version: 'v999999999', client, day: '2026-11-28', requests: 1, lastUsedAt: 0 })
  const [versionClient] = (await send('GET', '/v1/version-clients', admin)).json().data
  t.equal(versionClient.id.length, 267)
})

// A service that starts with the option or the route in the longest form, and the message where it is one longer.
const refusals: Readonly<
  Record<string, (more: number) => { readonly options?: object; readonly route?: object; readonly message: RegExp }>
> = {
  publicUrl: (more) => ({
    options: { publicUrl: publicUrl + 'a'.repeat(more) },
    message: /publicUrl is the invalid URL .* of at most 2048 characters/
  }),
  'the notes of a version': (more) => {
    const documentation = `https://api.example.com/${'d'.repeat(2024 + more)}`
    const dates = { deprecatedAt: '2030-01-01T00:00:00Z', sunsetAt: '2031-01-01T00:00:00Z' }
    return {
      options: { versions: { 1: { ...dates, documentation }, 2: {} } },
      message: /documentation must be .* of at most 2048 characters/
    }
  },
  'the media types of a route': (more) => {
    const types = [`application/${'a'.repeat(500)}`, `application/${'b'.repeat(498 + more)}`]
    return { route: { public: true, consumes: types }, message: /consumes more media types than fit in 1024 characters/ }
  },
  'the permissions of a route': (more) => ({
    route: { permissions: [...many, 'audit:read'].slice(0, 32 + more) },
    message: /lists more than 32 permissions/
  })
}
t.test('what is longer than the description says does not start', async (t) => {
  for (const [name, caseOf] of Object.entries(refusals)) {
    for (const more of [0, 1]) {
      const { options = {}, route: config = { public: true }, message } = caseOf(more)
      const app = Fastify(serverOptions())
      const starts = async () => {
        const authentication = { issuers: [ownTokens({ issuer, audience: 'shop', keys: kit.keys })], permissions: [...used, ...many] }
        const versions = { 1: {} }
        const transportSecurity = { dangerouslyAllowHttp: 'loopback' as const }
        await app.register(conventions, { publicUrl: 'https://api.example.com', versions, transportSecurity, authentication, ...options })
        await app.apiVersion(1, async (v1) => {
          const schema = { body: Thing, response: { 201: Thing } }
          v1.post('/things', { config: { idempotency: 'off', ...config } as never, schema }, created)
        })
        await app.ready()
      }
      if (more === 0) await t.resolves(starts(), name)
      else await t.rejects(starts(), { message }, name)
      await app.close()
    }
  }
  const { app } = await start()
  await t.rejects(app.webhooks.subscribe('o'.repeat(1025), { url: 'https://hooks.example.com', eventTypes: [type] }), {
    message: /^webhooks: the owner of a subscription has more than 1024 characters/
  })
})

t.test('a method of HTTP/2 is shortened in the link of the error', async (t) => {
  const app = Fastify({ ...serverOptions(), http2: true })
  t.teardown(() => app.close())
  await app.register(conventions, {
    publicUrl: 'https://api.example.com',
    versions: { 1: {} },
    transportSecurity: { dangerouslyAllowHttp: 'loopback' },
    authentication: false
  })
  const session = connect(await app.listen({ host: '127.0.0.1', port: 0 }))
  t.teardown(() => session.close())
  const request = session.request({ ':method': 'M'.repeat(100), ':path': '/v1/things' })
  const { error, _links } = JSON.parse(await text(request))
  t.strictSame([error.code, _links[0].method], ['METHOD_NOT_IMPLEMENTED', 'M'.repeat(32)])
})
