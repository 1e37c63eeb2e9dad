import { ownTokens } from '@concordat/authentication'
import { testKit } from '@concordat/authentication/testing'
import conventions, { type ConventionsOptions, serverOptions, versionClientRoutes } from '@concordat/conventions'
import type { VersionUse } from '@concordat/versioning'
import Fastify from 'fastify'
import t from 'tap'

const issuer = 'https://tokens.example.com'
const kit = testKit({ issuer, audience: 'books' })
const Book = { type: 'object', required: ['id'], properties: { id: { type: 'string' } } }

async function start(options: Partial<ConventionsOptions> = {}) {
  const uses: VersionUse[] = []
  const versionUsage = {
    add: async (added: readonly VersionUse[]) => void uses.push(...added),
    list: async () => uses.map(({ day, requests, ...use }) => ({ ...use, requests, days: [{ day, requests }] }))
  }
  const app = Fastify(serverOptions())
  await app.register(conventions, {
    publicUrl: 'https://api.example.com',
    versions: { 1: {}, 2: {} },
    transportSecurity: { dangerouslyAllowHttp: 'loopback' },
    authentication: {
      issuers: [ownTokens({ issuer, audience: 'books', keys: kit.keys })],
      permissions: ['books:read', 'version-clients:read']
    },
    stores: { versionUsage },
    ...options
  })
  for (const version of [1, 2])
    await app.apiVersion(version, async (api) => {
      api.get('/books/:id', { config: { permissions: ['books:read'] }, schema: { response: { 200: Book } } }, async () => ({ id: '7' }))
      await api.register(versionClientRoutes)
    })
  return { app, uses }
}

const bearer = (client: string | undefined, scope = 'books:read version-clients:read') => ({
  authorization: `Bearer ${kit.token({ sub: 'ada', scope, client_id: client })}`
})

t.test('the clients of each version are named as their tokens name them, for those with permission', async (t) => {
  const { app, uses } = await start()
  await app.ready()
  for (const [version, client] of [
    ['v1', 'shop'],
    ['v1', 'shop'],
    ['v1', undefined],
    ['v2', 'desk']
  ] as const)
    t.equal((await app.inject({ url: `/${version}/books/7`, headers: bearer(client) })).statusCode, 200)
  await app.close()
  t.strictSame(
    uses.map(({ version, client, requests }) => [version, client, requests]),
    [
      ['v1', 'shop', 2],
      ['v1', null, 1],
      ['v2', 'desk', 1]
    ]
  )

  const lists = await start()
  lists.uses.push(...uses)
  const list = async (url: string, headers = bearer('admin')) => lists.app.inject({ url, headers })
  const first = (await list('/v2/version-clients?version=v1&sort=-requests&perPage=1')).json()
  t.match(first, { data: [{ id: 'v1/shop', version: 'v1', client: 'shop', requests: 2 }] })
  t.equal(first.data.length, 1)
  t.match(first.data[0], { lastUsedAt: /^\d{4}-.*Z$/, days: [{ day: /^\d{4}-\d\d-\d\d$/, requests: 2 }] })
  t.match((await list('/v1/version-clients?version=v1&sort=requests')).json().data, [{ id: 'v1', client: null }, { client: 'shop' }])
  t.equal((await list('/v2/version-clients', bearer('admin', 'books:read'))).statusCode, 403)
  t.equal((await lists.app.inject('/v2/version-clients')).statusCode, 401)
})

t.test('without the store, the start says so', async (t) => {
  const { app } = await start({ stores: {} })
  await t.rejects(async () => app.ready(), { message: /^versioning: app\.versionClients\(\) needs options\.store/ })
})
