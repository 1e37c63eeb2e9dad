import authentication, { type AuthenticationOptions, outsideIssuer, ownTokens, type TrustedIssuer } from '@concordat/authentication'
import { type TestKit, testKit } from '@concordat/authentication/testing'
import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'

type TestAlgorithm = NonNullable<Parameters<typeof testKit>[0]['algorithm']>

export const issuer = 'https://tokens.example.com'
export const audience = 'orders'
export const permissions = ['orders:read', 'orders:create', 'orders:update', 'products:read', 'products:delete']

/** Creates an issuer of own tokens, with a kit that signs its tokens. */
export function ownIssuer(algorithm: Exclude<TestAlgorithm, 'PS256'> = 'ES256') {
  const kit = testKit({ issuer, audience, algorithm })
  return { kit, issuer: ownTokens({ issuer, audience, keys: kit.keys }) }
}

export function outside(algorithm: Exclude<TestAlgorithm, 'HS256'> = 'ES256') {
  const kit = testKit({ issuer, audience, algorithm })
  return {
    kit,
    issuer: outsideIssuer({ issuer, audience, jwksUrl: 'https://tokens.example.com/keys', algorithms: [algorithm], fetch: kit.fetch })
  }
}

/** Creates a service with routes of each kind. Its issuer is the kit, unless the options set another. */
export async function service(
  options: Partial<AuthenticationOptions> = {},
  { fastify = {}, routes = () => {} }: { fastify?: FastifyServerOptions; routes?: (app: FastifyInstance) => void } = {}
): Promise<{ app: FastifyInstance; kit: TestKit }> {
  const { kit, issuer: own } = ownIssuer()
  const issuers: readonly TrustedIssuer[] = [own]
  const app = Fastify(fastify)
  await app.register(authentication, { issuers, permissions, ...options })
  app.get('/orders', { config: { permissions: ['orders:read'] } }, async ({ principal }) => principal)
  app.post('/orders', { config: { permissions: ['orders:create'] } }, async () => 'created')
  app.get('/public', { config: { public: true } }, async ({ principal }) => ({ principal }))
  routes(app)
  return { app, kit }
}
