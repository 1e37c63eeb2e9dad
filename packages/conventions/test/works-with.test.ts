import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ownTokens } from '@concordat/authentication'
import { testKit } from '@concordat/authentication/testing'
import conventions, { type ConventionsOptions, serverOptions } from '@concordat/conventions'
import { earlierRoutes } from '@concordat/plugin-kit/wiring'
import Fastify, { type InjectOptions } from 'fastify'
import t, { type Test } from 'tap'
import { tableOf } from './works-with/page.ts'
import type { Row } from './works-with/row.ts'
import { rowsWithFeatures } from './works-with/rows-with-features.ts'
import { rowsWithRoutes } from './works-with/rows-with-routes.ts'

const origin = { issuer: 'https://id.example', audience: 'things' }
const issuer = ownTokens({ ...origin, keys: testKit(origin).keys })
const authentication = { issuers: [issuer], permissions: ['things:read'] }
const Thing = { type: 'object', required: ['id'], properties: { id: { type: 'string' } } }
const rows = [...rowsWithRoutes, ...rowsWithFeatures]

/** Starts a service with the preset and the plugin of a row, which is registered before or after it. */
async function start(t: Test, row: Row, place: 'before' | 'after', options: Partial<ConventionsOptions>) {
  const app = Fastify(serverOptions())
  t.teardown(() => app.close())
  if (place === 'before') await row.plugin(app)
  await app.register(conventions, {
    publicUrl: 'https://api.example.com',
    versions: { 1: { status: 'current' } },
    transportSecurity: { dangerouslyAllowHttp: 'loopback' },
    authentication: false,
    ...options
  })
  if (place === 'after') await row.plugin(app)
  row.routes?.(app)
  await app.apiVersion(1, async (v1) => {
    v1.get('/things/:id', { config: { public: true }, schema: { response: { 200: Thing } } }, async () => ({ id: '1' }))
  })
  await app.ready()
  return app
}

const access = (row: Row, declared: 'public' | readonly string[]) => Object.fromEntries((row.outside ?? []).map((path) => [path, declared]))

for (const row of rows) {
  for (const place of ['before', 'after'] as const) {
    const refusal = row.refused?.[place]
    if (refusal !== undefined) {
      t.test(`${row.name} ${place} the preset is refused with the remedy`, async (t) => {
        await t.rejects(start(t, row, place, {}), { message: refusal })
      })
      continue
    }
    for (const [name, options] of [
      ['without authentication', {}],
      ['with authentication', { authentication, outside: access(row, 'public') }]
    ] as const) {
      t.test(`${row.name} works ${place} the preset, ${name}`, async (t) => {
        const app = await start(t, row, place, options)
        const thing = await app.inject('/v1/things/1')
        t.match([thing.statusCode, thing.json()], [200, { data: { id: '1' }, _links: [{}], _meta: { version: 'v1' } }])
        t.match(thing.headers, { 'request-id': /./, 'x-content-type-options': 'nosniff' })
        t.match((await app.inject('/unknown')).json(), { error: { status: 404, code: 'RESOURCE_NOT_FOUND' } })
        t.match((await app.inject({ method: 'DELETE', url: '/v1/things/1' })).json(), { error: { code: 'METHOD_NOT_ALLOWED' } })
        await row.probe({
          t,
          app,
          send: (request: InjectOptions | string) => app.inject(request),
          listen: () => app.listen({ host: '127.0.0.1', port: 0 })
        })
      })
    }
    if (row.outside === undefined) continue
    t.test(`${row.name} ${place} the preset needs a declaration, and without public: true no anonymous request is accepted`, async (t) => {
      await t.rejects(start(t, row, place, { authentication }), { message: /do(es)? not declare who may use .*options\.outside.*'\// })
      const app = await start(t, row, place, { authentication, outside: access(row, ['things:read']) })
      for (const { method, url } of earlierRoutes(app)) {
        if (method === 'OPTIONS' || url === '/' || url === '/v1' || url.startsWith('/v1/') || url.startsWith('/reference')) continue
        const path = url.replaceAll(/:\w+/g, 'x').replaceAll('*', 'x')
        t.equal((await app.inject({ method: method as 'GET', url: path })).statusCode, 401, `${method} ${path}`)
      }
    })
  }
}

t.test('the page about other plugins has the table of these tests', async (t) => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/works-with.md'), 'utf8')
  t.match(page, tableOf(rows))
})
