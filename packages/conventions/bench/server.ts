import { randomUUID } from 'node:crypto'
import { ownTokens } from '@concordat/authentication'
import conventions, { type ConventionsOptions, serverOptions } from '@concordat/conventions'
import Fastify, { type FastifyInstance } from 'fastify'
import { envelopeSchema, item, itemSchema, list } from './item.ts'

const kinds: Readonly<Record<string, () => Promise<FastifyInstance>>> = {
  async bare() {
    const app = Fastify()
    addRoute(app, '/v1/products/:id')
    return app
  },
  async 'bare-logged'() {
    const app = Fastify({ logger: logger() })
    addRoute(app, '/v1/products/:id')
    return app
  },
  async alike() {
    const app = Fastify()
    addAlikeRoute(app)
    return app
  },
  preset: () => preset(false),
  'preset-logged': () => preset(logger()),
  'without-transport-security': () => preset(false, { transportSecurity: false }),
  'without-error-catalogue': () => preset(false, { errorCatalogue: false }),
  'without-versioning': () => preset(false, { versioning: false }),
  'without-http-methods': () => preset(false, { httpMethods: false }),
  'without-content-negotiation': () => preset(false, { contentNegotiation: false }),
  'without-envelope': () => preset(false, { envelope: false }),
  'without-rate-limiting': () => preset(false, { rateLimiting: false }),
  'without-authentication': () => preset(false, { authentication: false, rateLimiting: { addressLimit: limit } }),
  'with-fastify-timeout': () => preset(false, {}, { handlerTimeout: 30_000 })
}

const tokenOptions = {
  issuer: 'https://tokens.example.com',
  audience: 'products',
  keys: [{ kid: 'bench', algorithm: 'HS256', secret: 'w8K!3fPz-0aQm7Rx+2LdVt5Yc9Hj6NbE' }]
} as const
const limit = { limit: 100_000_000, windowSeconds: 3600 }
const transportSecurity = { dangerouslyAllowHttp: 'loopback' } as const

// Lines are written and discarded, so that the disk is not measured.
function logger() {
  return { level: 'info', stream: { write() {} } }
}

async function preset(
  log: ReturnType<typeof logger> | false,
  left: Partial<ConventionsOptions> = {},
  server: Record<string, unknown> = {}
) {
  const app: FastifyInstance = Fastify({ ...serverOptions(), logger: log, ...server })
  await app.register(conventions, {
    publicUrl: 'https://api.example.com',
    versions: { 1: { status: 'current' } },
    transportSecurity,
    authentication: { issuers: [ownTokens(tokenOptions)], permissions: ['products:read'] },
    rateLimiting: { addressLimit: limit, clientLimit: limit },
    ...left
  })
  if (left.versioning === false) addRoute(app, '/v1/products/:id')
  else await app.apiVersion(1, async (v1) => addRoute(v1, '/products/:id'))
  return app
}

function addRoute(app: FastifyInstance, path: string) {
  const permissions = ['products:read']
  app.get(path, { config: { permissions }, schema: { response: { 200: itemSchema } } }, async () => item)
  const config = { permissions, waivers: { Q10: 'always the same fifty' } }
  const schema = { response: { 200: { type: 'array', items: itemSchema } } }
  app.get(path.replace('/:id', ''), { config, schema }, async () => list)
}

// The same bytes as the preset sends, written without it: the cost that no convention can avoid.
function addAlikeRoute(app: FastifyInstance) {
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers({
      'content-security-policy': "default-src 'none';frame-ancestors 'none'",
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'request-id': randomUUID(),
      vary: 'accept'
    })
    done()
  })
  app.get('/v1/products/:id', { schema: { response: { 200: envelopeSchema(itemSchema) } } }, async ({ url }) => enveloped(url, item))
  const lists = envelopeSchema({ type: 'array', items: itemSchema })
  app.get('/v1/products', { schema: { response: { 200: lists } } }, async ({ url }) => enveloped(url, list))
}

function enveloped(url: string, data: unknown) {
  return {
    data,
    _links: [{ rel: 'self', href: `https://api.example.com${url}`, method: 'GET' }],
    _meta: { version: 'v1', timestamp: new Date().toISOString() }
  }
}

export async function serve(kind: string) {
  const make = kinds[kind]
  if (make === undefined) throw new Error(`Unknown server. Choose one of ${Object.keys(kinds).join(', ')}.`)
  // Every server receives the same headers, even if it ignores them.
  return {
    app: await make(),
    headers: { authorization: `Bearer ${await ownTokens(tokenOptions).sign({ sub: 'ada', scope: 'products:read' })}` }
  }
}
