// Compiled, never run: lines that must not compile are marked, and the compiler rejects a mark without an error.

import authentication, {
  type ApiKeyStore,
  type AuthenticationOptions,
  clientOf,
  memoryRevocationStore,
  outsideIssuer,
  ownerOf,
  ownTokens,
  type Policy,
  type Principal,
  type RevocationStore,
  revocationFeed,
  type TrustedIssuer
} from '@concordat/authentication'
import { testKit } from '@concordat/authentication/testing'
import { expectTypeOf } from 'expect-type'
import Fastify, { type FastifyRequest } from 'fastify'

interface Order {
  readonly customer: string
}

declare module '@concordat/authentication' {
  interface OwnClaims {
    readonly department: number
  }
}

const app = Fastify()
const tokens = ownTokens({ issuer: 'https://a', audience: 'b', keys: [{ kid: '1', algorithm: 'HS256', secret: 's' }] })
expectTypeOf(tokens).toExtend<TrustedIssuer>()
expectTypeOf(tokens.sign({ sub: 'ada', scope: 'orders:read', tenant: 7 })).toEqualTypeOf<Promise<string>>()
expectTypeOf(tokens.verify('x')).resolves.toHaveProperty('sub')

app.register(authentication, { issuers: [tokens], permissions: ['orders:read'] })
app.register(authentication, {
  issuers: [
    tokens,
    outsideIssuer({ issuer: 'https://b', audience: 'b', jwksUrl: 'https://b/keys', algorithms: ['ES256'] }),
    outsideIssuer({ issuer: 'https://c', audience: ['b'], jwksUrl: 'https://c/keys', algorithms: ['PS256'], type: 'JWT' })
  ],
  permissions: ['orders:read'],
  roles: { staff: ['orders:*'] },
  policies: {
    orders: { secret: true, allows: ({ subject }, _action, order: Order) => order.customer === subject }
  },
  revocations: { staleMs: 0, isRevoked: ({ jti, sid, sub, iat }) => jti === sid || sub === String(iat) },
  apiKeys: { store: {} as ApiKeyStore, permissions: [] }
})
expectTypeOf<Policy<Order>>().toExtend<Policy>()

app.get('/orders/:id', { config: { permissions: ['orders:read'] } }, async (request) => {
  expectTypeOf(request.principal).toEqualTypeOf<Principal | null>()
  const found = {} as Order | undefined
  const order = request.authorize('orders:read', found)
  expectTypeOf(order).toEqualTypeOf<Order>()
  // @ts-expect-error – handlers cannot set the principal
  request.principal = null
  return order
})
app.get('/orders/:id/notes', { config: { permissions: ['orders:read'] } }, async (request) => {
  expectTypeOf(request.tenant).toEqualTypeOf<string | undefined>()
  // @ts-expect-error – handlers cannot set the tenant
  request.tenant = 'acme'
  expectTypeOf(request.principal?.claims?.department).toEqualTypeOf<number | undefined>()
  const found = {} as Order | undefined
  return expectTypeOf(request.authorizeAsync('orders:read', found)).resolves.toEqualTypeOf<Order>()
})
// @ts-expect-error – a route has a tenant unless it says none
app.get('/t', { config: { permissions: ['orders:read'], tenant: 'acme' } }, async () => 'x')
app.get('/public', { config: { public: true } }, async () => 'x')

const request = {} as FastifyRequest
expectTypeOf(clientOf(request)).toEqualTypeOf<string | undefined>()
expectTypeOf(ownerOf(request)).toEqualTypeOf<string | undefined>()

expectTypeOf(memoryRevocationStore()).toEqualTypeOf<RevocationStore>()
expectTypeOf(revocationFeed({ store: memoryRevocationStore() })).toExtend<NonNullable<AuthenticationOptions['revocations']>>()

const kit = testKit({ issuer: 'https://a', audience: 'b', algorithm: 'EdDSA' })
expectTypeOf(kit.token({ sub: 7, exp: 'never' })).toEqualTypeOf<string>()
expectTypeOf(kit.badTokens()).toExtend<readonly { readonly name: string; readonly token: string; readonly expired: boolean }[]>()

// @ts-expect-error – issuers is required
app.register(authentication, { permissions: ['orders:read'] })
// @ts-expect-error – permissions is required
app.register(authentication, { issuers: [tokens] })
// @ts-expect-error – audience is required
ownTokens({ issuer: 'https://a', keys: [{ kid: '1', algorithm: 'HS256', secret: 's' }] })
// @ts-expect-error – the algorithm does not exist
ownTokens({ issuer: 'https://a', audience: 'b', keys: [{ kid: '1', algorithm: 'none', secret: 's' }] })
// @ts-expect-error – a secret is not a key pair
ownTokens({ issuer: 'https://a', audience: 'b', keys: [{ kid: '1', algorithm: 'ES256', secret: 's' }] })
// @ts-expect-error – outside issuers cannot use a shared secret
outsideIssuer({ issuer: 'https://b', audience: 'b', jwksUrl: 'https://b/keys', algorithms: ['HS256'] })
// @ts-expect-error – sub has no default
tokens.sign({ scope: 'orders:read' })
// @ts-expect-error – permissions is a list
app.get('/orders', { config: { permissions: 'orders:read' } }, async () => 'x')
app.register(authentication, { issuers: [tokens], permissions: ['a:b'], policies: { a: { allows: async () => true } } })
// @ts-expect-error – pollSeconds is a number of seconds
revocationFeed({ store: memoryRevocationStore(), pollSeconds: '2' })
