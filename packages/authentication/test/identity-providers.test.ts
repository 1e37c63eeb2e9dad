import { type AuthenticationOptions, grantsIn, outsideIssuer } from '@concordat/authentication'
import t from 'tap'
import { clock, IdentityProvider, seconds, type Tap } from './identity-provider.ts'
import { service } from './service.ts'

type OutsideIssuerOptions = Parameters<typeof outsideIssuer>[0]
type Headers = { readonly authorization: string }

const roles: AuthenticationOptions['roles'] = {
  seller: ['orders:*'],
  auditor: ['*:read'],
  'read:orders': ['orders:read'],
  'Orders.Read': ['orders:read'],
  'Orders.Create.All': ['orders:create']
}

/** Creates a service that trusts these issuers. Returns a function that sends a token to it. */
async function sender(issuers: AuthenticationOptions['issuers']) {
  const { app } = await service({ issuers, roles })
  return async (headers: Headers) => {
    const response = await app.inject({ url: '/orders', headers })
    return { status: response.statusCode, code: response.json().code as string | undefined, principal: response.json(), response }
  }
}

// Keycloak: https://www.keycloak.org/docs/latest/server_admin/#_oidc_token_role_mappings, and `typ`, `azp` and `sid` as in AccessToken.java.
async function keycloak(t: Tap, options: Partial<OutsideIssuerOptions> = {}) {
  const provider = await new IdentityProvider().listen(t)
  const issuer = `${provider.origin}/realms/shop`
  await provider.addKey('1')
  provider.serveMetadata(issuer, '/realms/shop/protocol/openid-connect/certs')
  const send = await sender([
    outsideIssuer({
      issuer,
      audience: 'orders',
      type: 'JWT',
      grantsOf: grantsIn(['realm_access', 'roles'], ['resource_access', 'orders', 'roles']),
      isClient: ({ client_id }) => client_id !== undefined,
      ...options
    })
  ])
  const claims = () => ({
    exp: seconds() + 300,
    iat: seconds(),
    auth_time: seconds() - 60,
    jti: 'onrtac:0a1ee2b4-31c1-3d5b-8a1a-5c2f0f4b6a11',
    iss: issuer,
    aud: ['orders', 'account'],
    sub: 'f3c1b0d4-0b57-4e3c-9d5f-1f2a6f0a7c11',
    typ: 'Bearer',
    azp: 'shop-web',
    sid: '5a4f2f66-0c0e-4a8e-93cf-2a7c2f9f5d0e',
    acr: '1',
    'allowed-origins': ['https://shop.example.com'],
    realm_access: { roles: ['offline_access', 'default-roles-shop', 'uma_authorization'] },
    resource_access: { orders: { roles: ['seller'] }, billing: { roles: ['auditor'] }, account: { roles: ['view-profile'] } },
    scope: 'openid email profile',
    email_verified: true,
    preferred_username: 'ada'
  })
  return { provider, issuer, send, claims }
}

t.test('accepts access tokens of Keycloak with realm roles and the roles of one client', async (t) => {
  const { provider, issuer, send, claims } = await keycloak(t)
  const { sub } = claims()
  const user = await send(await provider.bearer(claims()))
  t.match(user.principal, { kind: 'user', issuer, client: 'shop-web', subject: sub, roles: ['seller'] })
  t.strictSame(user.principal.permissions, ['orders:create', 'orders:read', 'orders:update'], 'nothing of the client billing')
  const auditor = { ...claims(), resource_access: undefined, realm_access: { roles: ['auditor'] } }
  t.strictSame((await send(await provider.bearer(auditor))).principal.permissions, ['orders:read', 'products:read'])
  const account = { ...claims(), azp: 'importer', client_id: 'importer', preferred_username: 'service-account-importer', sid: undefined }
  const { kind, client, subject } = (await send(await provider.bearer(account))).principal
  t.strictSame([kind, client, subject], ['client', 'importer', undefined])
})

t.test('rejects tokens of Keycloak for another purpose or audience, and roles of another shape', async (t) => {
  const { provider, send, claims } = await keycloak(t)
  for (const change of [
    { typ: 'ID', aud: 'orders', nonce: 'n', at_hash: 'h' },
    { typ: 'ID', aud: 'orders' },
    { typ: 'Refresh' },
    { typ: 'Offline' },
    { typ: 'DPoP' },
    { aud: 'account' },
    { aud: undefined },
    { sub: undefined },
    { iss: 'https://id.example.com/realms/shop' },
    { azp: undefined },
    { realm_access: { roles: [1] } },
    { realm_access: { roles: { seller: true } } }
  ]) {
    const { status, code } = await send(await provider.bearer({ ...claims(), ...change }))
    t.strictSame([status, code], [401, 'INVALID_TOKEN'], JSON.stringify(change))
  }
  for (const change of [{ resource_access: 'seller' }, { resource_access: { orders: null } }]) {
    t.equal((await send(await provider.bearer({ ...claims(), ...change }))).code, 'INSUFFICIENT_PERMISSION', JSON.stringify(change))
  }
  const past = seconds() - 600
  const expired = { ...claims(), iat: past, exp: past + 300 }
  t.equal((await send(await provider.bearer(expired))).code, 'TOKEN_EXPIRED')
  t.equal((await send(await provider.bearer({ ...expired, aud: 'account' }))).code, 'INVALID_TOKEN')
})

t.test('accepts a rotated key after 30 seconds, and rejects a withdrawn key after 10 minutes', async (t) => {
  const advance = clock(t)
  const { provider, send, claims } = await keycloak(t)
  const first = async () => (await send(await provider.bearer(claims()))).status
  t.equal(await first(), 200)
  const [discovery, keys] = provider.requested
  t.strictSame([discovery, keys], ['/realms/shop/.well-known/openid-configuration', '/realms/shop/protocol/openid-connect/certs'])
  await provider.addKey('2')
  const second = async () => (await send(await provider.bearer(claims(), { kid: '2' }))).status
  t.equal(await second(), 401, 'within 30 seconds of the last fetch')
  t.equal(provider.requested.length, 2)
  advance(30_000)
  t.strictSame(await Promise.all([second(), second(), second()]), [200, 200, 200])
  t.equal(provider.requested.length, 4, 'one further fetch')
  t.equal(await first(), 200, 'both keys are valid')

  const withdrawn = provider.withdrawKey('1')
  const old = async () => (await send({ authorization: `Bearer ${await withdrawn(claims())}` })).status
  t.equal(await old(), 200, 'cached')
  advance(600_000)
  t.equal(await old(), 401)
  t.equal(await second(), 200)
})

t.test('returns 503 while Keycloak is unavailable, and accepts tokens of cached keys', async (t) => {
  const advance = clock(t)
  const { provider, send, claims } = await keycloak(t)
  t.equal((await send(await provider.bearer(claims()))).status, 200)
  await provider.close()
  t.equal((await send(await provider.bearer({ ...claims(), jti: 'next' }))).status, 200, 'the key is cached')
  advance(600_000)
  const { status, code, response } = await send(await provider.bearer(claims()))
  t.strictSame([status, code, response.headers['retry-after']], [503, 'AUTHENTICATION_UNAVAILABLE', '5'])
})

t.test('returns 503 for a discovery document that is invalid or of another issuer', async (t) => {
  for (const change of [
    { issuer: 'http://127.0.0.1/realms/other' },
    { issuer: undefined },
    { jwks_uri: undefined },
    { jwks_uri: 'http://keys.example.com/certs' },
    { jwks_uri: 'certs' },
    null
  ]) {
    const { provider, issuer, send, claims } = await keycloak(t)
    const metadata = { issuer, jwks_uri: `${issuer}/protocol/openid-connect/certs` }
    provider.serve('/realms/shop/.well-known/openid-configuration', change === null ? null : { ...metadata, ...change })
    t.equal((await send(await provider.bearer(claims()))).status, 503, JSON.stringify(change))
    t.equal(provider.requested.length, 1)
  }
})

const auth0Issuer = 'https://shop.eu.auth0.com/'
const auth0Client = 'awZfdIir8YFdGZWkvCejDoUb7SjTDicx'

// Auth0: https://auth0.com/docs/secure/tokens/access-tokens/access-token-profiles, with RBAC and "Add Permissions in the Access Token".
// APIs of Auth0 have tokens for 24 hours by default.
async function auth0(t: Tap) {
  const provider = await new IdentityProvider().listen(t)
  await provider.addKey('1')
  provider.serveMetadata(auth0Issuer, '/.well-known/jwks.json')
  const options: OutsideIssuerOptions = {
    issuer: auth0Issuer,
    audience: ['https://api.example.com', 'https://legacy.example.com/orders'],
    type: 'JWT',
    maxLifetimeSeconds: 86_400,
    grantsOf: grantsIn('permissions'),
    isClient: ({ sub }) => sub.endsWith('@clients'),
    fetch: provider.fetch
  }
  const claims = () => ({
    iss: auth0Issuer,
    sub: 'auth0|6553da60a54af58e29493993',
    aud: ['https://api.example.com', `${auth0Issuer}userinfo`],
    iat: seconds(),
    exp: seconds() + 86_400,
    azp: auth0Client,
    scope: 'openid profile read:orders',
    permissions: ['read:orders']
  })
  return { provider, options, claims }
}

t.test('accepts access tokens of Auth0 with permissions, in both profiles and for several audiences', async (t) => {
  const { provider, options, claims } = await auth0(t)
  const send = await sender([outsideIssuer(options)])
  const user = await send(await provider.bearer(claims()))
  t.match(user.principal, {
    kind: 'user',
    client: auth0Client,
    subject: claims().sub,
    permissions: ['orders:read'],
    roles: ['read:orders']
  })
  t.equal((await send(await provider.bearer({ ...claims(), aud: 'https://legacy.example.com/orders' }))).status, 200)
  t.equal((await send(await provider.bearer({ ...claims(), permissions: [] }))).code, 'INSUFFICIENT_PERMISSION', 'scope grants nothing')
  const machine = { ...claims(), sub: `${auth0Client}@clients`, gty: 'client-credentials', aud: 'https://api.example.com' }
  const { kind, client, subject } = (await send(await provider.bearer(machine))).principal
  t.strictSame([kind, client, subject], ['client', auth0Client, undefined])

  const standard = await sender([outsideIssuer({ ...options, type: undefined })])
  const profile = { ...claims(), azp: undefined, client_id: auth0Client, jti: '73WakrfVbNJBaAmhQtEeDv' }
  t.match((await standard(await provider.bearer(profile, { typ: 'at+jwt' }))).principal, {
    client: auth0Client,
    permissions: ['orders:read']
  })
  t.equal((await standard(await provider.bearer(claims()))).status, 401, 'JWT is accepted only with the option type')
})

t.test('rejects ID tokens of Auth0, another audience, and a lifetime beyond maxLifetimeSeconds', async (t) => {
  const { provider, options, claims } = await auth0(t)
  const send = await sender([outsideIssuer(options)])
  // https://auth0.com/docs/secure/tokens/id-tokens/id-token-structure
  const idToken = { ...claims(), aud: auth0Client, azp: undefined, permissions: undefined, scope: undefined, sid: 's', name: 'Ada' }
  for (const bad of [
    idToken,
    { ...idToken, nonce: 'n' },
    { ...idToken, aud: 'https://api.example.com', permissions: ['read:orders'] },
    { ...claims(), aud: `${auth0Issuer}userinfo` },
    { ...claims(), iss: 'https://other.eu.auth0.com/' },
    { ...claims(), exp: seconds() + 86_401 }
  ]) {
    t.equal((await send(await provider.bearer(bad))).code, 'INVALID_TOKEN', JSON.stringify(bad))
  }
  const short = await sender([outsideIssuer({ ...options, maxLifetimeSeconds: undefined })])
  t.equal((await short(await provider.bearer(claims()))).status, 401)
})

// Duende IdentityServer: https://docs.duendesoftware.com/identityserver/reference/options/ (EmitScopesAsSpaceDelimitedStringInJwt is off by default).
// Libraries of .NET write a list of one value as a string.
t.test('accepts access tokens of Duende IdentityServer, with scope as a list and one role as a string', async (t) => {
  const provider = await new IdentityProvider().listen(t)
  await provider.addKey('1')
  provider.serveMetadata(provider.origin, '/.well-known/openid-configuration/jwks')
  const claims = () => ({
    iss: provider.origin,
    nbf: seconds(),
    iat: seconds(),
    exp: seconds() + 3600,
    aud: ['orders', `${provider.origin}/resources`],
    scope: ['openid', 'orders:create', 'offline_access'],
    amr: ['pwd'],
    client_id: 'shop-web',
    sub: '818727',
    auth_time: seconds() - 60,
    idp: 'local',
    roles: 'auditor',
    sid: 'F5F2B6E1D1',
    jti: 'A1B2C3D4E5F60718'
  })
  const inScope = { issuer: provider.origin, audience: 'orders', grantsOf: grantsIn('scope') }
  for (const [options, permissions] of [
    [{ issuer: provider.origin, audience: 'orders' }, ['orders:create', 'orders:read', 'products:read']],
    [{ ...inScope, grantsOf: grantsIn('scope', 'roles') }, ['orders:create', 'orders:read', 'products:read']],
    [
      { ...inScope, grantsOf: ({ scope = '', roles = [] }) => [...scope.split(' '), ...roles] },
      ['orders:create', 'orders:read', 'products:read']
    ]
  ] as readonly (readonly [OutsideIssuerOptions, readonly string[]])[]) {
    const send = await sender([outsideIssuer(options)])
    const { principal } = await send(await provider.bearer(claims(), { typ: 'at+jwt' }))
    t.match(principal, { kind: 'user', client: 'shop-web', subject: '818727', roles: ['auditor'] })
    t.strictSame(principal.permissions, permissions)
  }
  const send = await sender([outsideIssuer(inScope)])
  t.equal((await send(await provider.bearer(claims(), { typ: 'at+jwt' }))).code, 'INSUFFICIENT_PERMISSION', 'without roles')
})

const tenant = '72f988bf-86f1-41af-91ab-2d7cd011db47'
const apiId = '6e74172b-be56-4843-9ff4-e66a39bb12e3'
const entraTimes = () => ({ iat: seconds() - 300, nbf: seconds() - 300, exp: seconds() + 5400 })

// Microsoft Entra ID: https://learn.microsoft.com/entra/identity-platform/access-token-claims-reference. Tokens are valid for 60 to 90 minutes,
// and from 5 minutes before they are issued.
async function entra(t: Tap) {
  const provider = await new IdentityProvider().listen(t)
  await provider.addKey('1')
  const [v1, v2] = [`https://sts.windows.net/${tenant}/`, `https://login.microsoftonline.com/${tenant}/v2.0`]
  const shared = {
    type: 'JWT',
    maxLifetimeSeconds: 5700,
    grantsOf: grantsIn('scp', 'roles'),
    isClient: ({ idtyp }) => idtyp === 'app',
    fetch: provider.fetch
  } satisfies Partial<OutsideIssuerOptions>
  provider.serveMetadata(v2, `/${tenant}/discovery/v2.0/keys`)
  provider.serveMetadata(v1, '/common/discovery/keys', 'https://login.microsoftonline.com/common/discovery/keys')
  const issuers = [
    outsideIssuer({ issuer: v2, audience: apiId, ...shared }),
    outsideIssuer({ issuer: v1, audience: ['api://orders', apiId], ...shared })
  ]
  const ids = { oid: '690222be-ff1a-4d56-abd1-7e4f7d38e474', tid: tenant, rh: '0.AAAA', uti: 'ydKrGDvfjUG8pyJv7cpMAA' }
  const claims2 = () => ({
    ...ids,
    ...entraTimes(),
    aud: apiId,
    iss: v2,
    aio: 'AXQAi/8IAAAA',
    azp: '11111111-2222-3333-4444-555555555555',
    azpacr: '0',
    name: 'Ada',
    preferred_username: 'ada@example.com',
    scp: 'Orders.Read profile',
    sub: 'HKZpfaHyWadeOouYlitjrI-KffTm222X5rrV3xDqfKQ',
    ver: '2.0'
  })
  const claims1 = () => ({
    ...ids,
    ...entraTimes(),
    aud: 'api://orders',
    iss: v1,
    acr: '1',
    appid: '11111111-2222-3333-4444-555555555555',
    appidacr: '0',
    scp: 'Orders.Read',
    sub: 'l3_roISQU222bULS9yi2k0XpqpOiMz5H3ZACo1GeXA',
    unique_name: 'ada@example.com',
    ver: '1.0'
  })
  return { provider, send: await sender(issuers), claims1, claims2 }
}

t.test('accepts v1.0 and v2.0 access tokens of Entra ID with delegated scopes and app roles', async (t) => {
  const { provider, send, claims1, claims2 } = await entra(t)
  const client = '11111111-2222-3333-4444-555555555555'
  for (const claims of [claims1(), claims2(), { ...claims1(), aud: apiId }]) {
    const { principal } = await send(await provider.bearer(claims))
    t.match(principal, {
      kind: 'user',
      issuer: claims.iss,
      client,
      subject: claims.sub,
      permissions: ['orders:read'],
      roles: ['Orders.Read']
    })
  }
  t.ok(provider.requested.includes('/common/discovery/keys') && provider.requested.includes(`/${tenant}/discovery/v2.0/keys`))
  const both = { ...claims2(), roles: ['Orders.Create.All'] }
  t.strictSame((await send(await provider.bearer(both))).principal.permissions, ['orders:create', 'orders:read'])
  const app = { ...claims2(), sub: claims2().oid, scp: undefined, roles: ['Orders.Read'], idtyp: 'app', azpacr: '1', name: undefined }
  const { kind, subject, permissions } = (await send(await provider.bearer(app))).principal
  t.strictSame([kind, subject, permissions], ['client', undefined, ['orders:read']])
})

t.test('rejects ID tokens of Entra ID, and tokens of another tenant, audience or version', async (t) => {
  const { provider, send, claims1, claims2 } = await entra(t)
  // One app registration for a page and its API: then ID tokens and access tokens have the same aud, and both have app roles.
  const idToken = { ...claims2(), azp: undefined, azpacr: undefined, scp: undefined, roles: ['Orders.Read'] }
  for (const bad of [
    idToken,
    { ...claims2(), nonce: '12345' },
    { ...claims2(), iss: 'https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0' },
    { ...claims2(), aud: '00000003-0000-0000-c000-000000000000' },
    { ...claims2(), aud: 'api://orders' },
    { ...claims1(), aud: 'https://graph.microsoft.com' },
    { ...claims1(), appid: '' }
  ]) {
    t.equal((await send(await provider.bearer(bad))).code, 'INVALID_TOKEN', JSON.stringify(bad))
  }
})
