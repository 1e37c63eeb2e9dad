import { linkCheck } from '@concordat/plugin-kit/links'
import { inEnvironment } from '@concordat/test-harness/environment'
import Fastify, { type FastifyServerOptions } from 'fastify'
import t, { type Test } from 'tap'

/** A server that links to the path in the query, with the messages of its warnings. */
async function service(t: Test, options: FastifyServerOptions = {}) {
  const warnings: string[] = []
  const stream = { write: (line: string) => void warnings.push(JSON.parse(line).msg) }
  const app = Fastify({ ...options, logger: { level: 'warn', stream } })
  t.teardown(() => app.close())
  const check = linkCheck(app, 'envelope')
  for (const url of ['/a', '/b'])
    app.get<{ Querystring: { path: string; method?: string } }>(url, async (request) => {
      check(request, request.query.path, request.query.method)
      return 'x'
    })
  app.get('/v1/loans/:id', async () => 'loan')
  app.delete('/v1/loans/:id', async () => 'gone')
  app.get('/files/*', async () => 'file')
  app.get('/hosts/:id', { constraints: { host: 'api.example.com' } }, async () => 'host')
  const link = (url: string, path: string, method?: string) =>
    app.inject({ url, query: { path, ...(method !== undefined && { method }) }, headers: { host: 'api.example.com' } })
  return { warnings, link, app }
}

t.test('a link to a path that a route serves gets no warning', async (t) => {
  const { warnings, link } = await service(t)
  for (const path of [
    '/v1/loans/1',
    '/v1/loans/caf%C3%A9?fields=id#top',
    '/files/a/b.png',
    '/hosts/1',
    'https://other.example.com/loans/1',
    'HTTP://other.example.com'
  ])
    t.equal((await link('/a', path)).statusCode, 200)
  await link('/a', '/v1/loans/1', 'DELETE')
  t.strictSame(warnings, [])
})

t.test('a link that no route serves gets one warning per route, with the path and the remedy', async (t) => {
  for (const [path, method] of [
    ['/loans/1', undefined],
    ['/v1/loan/1', undefined],
    ['v1/loans/1', undefined],
    ['/v1/loans/1', 'POST'],
    ['/v1/loans/1', 'UNHEARD-OF'],
    ['/v1/loans/%zz', undefined],
    ['', undefined]
  ] as const) {
    const { warnings, link, app } = await service(t)
    await link('/a', path, method)
    await link('/a', '/another')
    await app.inject({ method: 'HEAD', url: '/a', query: { path } })
    const [first] = warnings
    t.strictSame(warnings, [
      `envelope: GET /a links to ${JSON.stringify(path)}, which no ${method ?? 'GET'} route serves. Add the route, or correct the path, which is relative to the version.`
    ])
    await link('/b', path, method)
    t.strictSame(warnings, [first, first?.replace('/a', '/b')], 'each route has its own warning')
  }
})

t.test('nothing is checked in production', async (t) => {
  inEnvironment(t, 'production')
  const { warnings, link } = await service(t)
  t.equal((await link('/a', '/loans/1')).statusCode, 200)
  t.strictSame(warnings, [])
})
