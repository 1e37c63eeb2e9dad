// The plugins of the preset act at a stage in one hook. The hooks of a service run before and after it, and see what the plugins have done until then.
import { ownTokens } from '@concordat/authentication'
import { testKit } from '@concordat/authentication/testing'
import conventions, { serverOptions } from '@concordat/conventions'
import Fastify, { type FastifyInstance, type FastifyReply } from 'fastify'
import t from 'tap'

const issuer = 'https://tokens.example.com'
const kit = testKit({ issuer, audience: 'orders' })
const authorization = `Bearer ${kit.token({ scope: 'things:read' })}`

const stages = ['onRequest', 'preParsing', 'preValidation', 'preHandler', 'preSerialization', 'onSend', 'onResponse', 'onError'] as const
type Stage = (typeof stages)[number]

let seen: string[] = []

// Headers that plugins set, each at its own time.
const marks: Readonly<Record<string, string>> = {
  'request-id': 'id',
  ratelimit: 'limit',
  'access-control-allow-origin': 'cors',
  vary: 'vary',
  etag: 'tag',
  'cache-control': 'cache'
}

function note(place: string, stage: Stage, reply: FastifyReply) {
  const set = Object.keys(marks).filter((name) => reply.hasHeader(name))
  const limits = String(reply.getHeader('ratelimit') ?? '').split(', ').length
  const words = set.map((name) =>
    name === 'ratelimit' ? `limit×${limits}` : name === 'vary' ? `vary:${String(reply.getHeader(name))}` : marks[name]
  )
  seen.push([place, stage, reply.statusCode, ...words].join(' '))
}

function watch(app: FastifyInstance, place: string) {
  for (const stage of stages) {
    if (stage === 'onSend' || stage === 'preSerialization' || stage === 'preParsing' || stage === 'onError')
      app.addHook(stage as 'onError', (_request, reply, _payload, done) => {
        note(place, stage, reply)
        done()
      })
    else app.addHook(stage, async (_request, reply) => note(place, stage, reply))
  }
}

const app = Fastify(serverOptions())
watch(app, 'before')
await app.register(conventions, {
  publicUrl: 'https://api.example.com',
  transportSecurity: { dangerouslyAllowHttp: 'loopback' },
  versions: { 1: { status: 'current' } },
  cors: { origin: ['https://app.example.com'] },
  authentication: { issuers: [ownTokens({ issuer, audience: 'orders', keys: kit.keys })], permissions: ['things:read'] }
})
watch(app, 'after')
const Thing = { type: 'object', required: ['id'], properties: { id: { type: 'string' } } } as const
await app.apiVersion(1, async (v1) => {
  watch(v1, 'version')
  v1.get(
    '/things/:id',
    {
      config: { permissions: ['things:read'], validator: () => ({ exists: true, etag: 7 }) },
      schema: { response: { 200: Thing } },
      onRequest: async (_request, reply) => note('route', 'onRequest', reply),
      preHandler: async (_request, reply) => note('route', 'preHandler', reply),
      onSend: async (_request, reply) => note('route', 'onSend', reply)
    },
    async () => ({ id: '1' })
  )
})

async function seenBy(url: string, headers: Record<string, string> = {}) {
  seen = []
  const response = await app.inject({ url, headers: { authorization, origin: 'https://app.example.com', ...headers } })
  return {
    response,
    seen: seen.filter((line) => !line.includes(' onResponse ')),
    responded: seen.filter((line) => line.includes(' onResponse '))
  }
}

const inputs = (place: string, stage: Stage, words: string, status = 200) => `${place} ${stage} ${status}${words === '' ? '' : ` ${words}`}`
const early = 'id limit×1 cors vary:Origin'
const counted = 'id limit×2 cors vary:Origin'
const refused = 'id limit×1 cors vary:origin, accept-language, accept cache'
const around = (stage: Stage, words: string, status = 200) =>
  ['before', 'after', 'version'].map((place) => inputs(place, stage, words, status))

t.test('hooks of others see a response as the plugins have made it until then', async (t) => {
  const { response, seen, responded } = await seenBy('/v1/things/1')
  t.equal(response.statusCode, 200)
  t.strictSame(seen, [
    inputs('before', 'onRequest', ''),
    inputs('after', 'onRequest', early),
    inputs('version', 'onRequest', early),
    inputs('route', 'onRequest', early),
    inputs('before', 'preParsing', early),
    inputs('after', 'preParsing', counted),
    inputs('version', 'preParsing', counted),
    ...around('preValidation', counted),
    ...around('preHandler', counted),
    inputs('route', 'preHandler', counted),
    ...around('preSerialization', `${counted} tag`),
    inputs('before', 'onSend', `${counted} tag`),
    inputs('after', 'onSend', 'id limit×2 cors vary:origin, accept tag'),
    inputs('version', 'onSend', 'id limit×2 cors vary:origin, accept tag'),
    inputs('route', 'onSend', 'id limit×2 cors vary:origin, accept tag')
  ])
  t.strictSame(responded, around('onResponse', 'id limit×2 cors vary:origin, accept, accept-encoding tag cache'))
})

t.test('a 304 passes the hooks of others as every response does', async (t) => {
  const { headers } = (await seenBy('/v1/things/1')).response
  const { response, seen, responded } = await seenBy('/v1/things/1', { 'if-none-match': String(headers.etag) })
  t.equal(response.statusCode, 304)
  t.equal(response.headers['content-type'], undefined)
  t.strictSame(
    seen.filter((line) => line.includes(' preHandler ') || line.includes(' onSend ')),
    [
      ...around('preHandler', counted),
      inputs('route', 'preHandler', counted),
      inputs('before', 'onSend', `${counted} tag`, 304),
      inputs('after', 'onSend', 'id limit×2 cors vary:origin, accept tag', 304),
      inputs('version', 'onSend', 'id limit×2 cors vary:origin, accept tag', 304),
      inputs('route', 'onSend', 'id limit×2 cors vary:origin, accept tag', 304)
    ]
  )
  t.notOk(seen.some((line) => line.includes('preSerialization')))
  t.strictSame(responded, around('onResponse', 'id limit×2 cors vary:origin, accept, accept-encoding tag cache', 304))
})

t.test('a request that a plugin refuses does not reach the hooks after it, and its response passes those of onSend', async (t) => {
  const { response, seen } = await seenBy('/v1/things/1', { authorization: 'Bearer invalid' })
  t.equal(response.statusCode, 401)
  t.strictSame(
    seen.filter((line) => !line.includes(' onError ')),
    [
      inputs('before', 'onRequest', ''),
      inputs('before', 'onSend', 'id limit×1 cors vary:origin, accept-language cache', 401),
      ...['after', 'version', 'route'].map((place) => inputs(place, 'onSend', refused, 401))
    ]
  )
})

t.test('hooks of others also run for paths without a route', async (t) => {
  const { response, seen } = await seenBy('/v1/nothing')
  t.equal(response.statusCode, 404)
  t.strictSame(
    seen.filter((line) => !line.includes(' onError ')),
    [
      inputs('before', 'onRequest', ''),
      inputs('after', 'onRequest', early),
      inputs('before', 'preParsing', early),
      inputs('before', 'onSend', 'id limit×1 cors vary:origin, accept-language cache', 404),
      inputs('after', 'onSend', refused, 404)
    ]
  )
})
