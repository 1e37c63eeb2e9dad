import conventions, { type ConventionsOptions, serverOptions } from '@concordat/conventions'
import { defineJob, jobRecordSchema } from '@concordat/jobs'
import { inEnvironment } from '@concordat/test-harness/environment'
import { until } from '@concordat/test-harness/until'
import Fastify, { type FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'

const Loan = { type: 'object', required: ['id'], properties: { id: { type: 'string' } } }
const loan = { id: '1' }

/** Starts a service in version 1, with the messages of its warnings about links. */
async function service(t: Test, addRoutes: (v1: FastifyInstance) => void, options: Partial<ConventionsOptions> = {}) {
  const warnings: string[] = []
  const stream = { write: (line: string) => void warnings.push(JSON.parse(line).msg) }
  const app = Fastify({ ...serverOptions(), logger: { level: 'warn', stream } })
  t.teardown(() => app.close())
  await app.register(conventions, {
    publicUrl: 'https://api.example.com/library',
    versions: { 1: {} },
    authentication: false,
    transportSecurity: { dangerouslyAllowHttp: 'loopback' },
    ...options
  })
  await app.apiVersion(1, async (v1) => addRoutes(v1))
  await app.ready()
  warnings.length = 0
  return { app, warnings: () => warnings.filter((line) => line.includes('links to')) }
}

const created = { config: { idempotency: 'off' }, schema: { response: { 201: Loan } } } as const
const read = { schema: { response: { 200: Loan } } } as const

t.test('reply.created to a path that no GET route serves is warned of once, and works', async (t) => {
  const { app, warnings } = await service(t, (v1) => {
    v1.post('/loans', created, async (_request, reply) => reply.created('/loans/1', loan))
    v1.post('/returns', created, async (_request, reply) => reply.created('/v1/returns/1', loan))
    v1.get('/returns/:id', read, async () => loan)
  })
  for (const url of ['/v1/loans', '/v1/loans', '/v1/returns'])
    t.equal(
      (await app.inject({ method: 'POST', url })).headers['location'],
      `https://api.example.com/library/v1${url === '/v1/loans' ? '' : '/v1'}${url.slice(3)}/1`
    )
  t.strictSame(warnings(), [
    'envelope: POST /v1/loans links to "/v1/loans/1", which no GET route serves. Add the route, or correct the path, which is relative to the version.',
    'envelope: POST /v1/returns links to "/v1/v1/returns/1", which no GET route serves. Add the route, or correct the path, which is relative to the version.'
  ])
})

t.test('reply.link is compared with the routes of its method, and links of the suite and to other servers get no warning', async (t) => {
  const { app, warnings } = await service(t, (v1) => {
    v1.get('/loans/:id', read, async ({ params, url }, reply) => {
      const { id } = params as { id: string }
      reply
        .link('renew', `/loans/${id}/renewals`, 'POST')
        .link('self-service', 'https://other.example.com/x')
        .link('alternate', url.slice(3))
      if (id === '2') reply.link('reader', '/readers/1')
      if (id === '3') reply.link('cancel', '/loans/3', 'DELETE')
      return { id }
    })
    v1.post('/loans/:id/renewals', created, async (_request, reply) => reply.created('/loans/1', loan))
  })
  for (const url of ['/', '/v1', '/v1/loans/1', '/v1/loans/1?fields=id']) await app.inject(url)
  await app.inject({ method: 'POST', url: '/v1/loans/1/renewals' })
  t.strictSame(warnings(), [])
  for (const url of ['/v1/loans/2', '/v1/loans/3']) t.equal((await app.inject(url)).statusCode, 200)
  t.match(
    warnings(),
    [/^envelope: GET \/v1\/loans\/:id links to "\/v1\/readers\/1", which no GET route serves/],
    'one warning for the route'
  )
})

t.test('reply.moved to a path that no GET route serves is warned of', async (t) => {
  const { app, warnings } = await service(t, (v1) => {
    v1.get('/loans/:id', read, async (_request, reply) => reply.moved('/lendings/1'))
    v1.get('/books/:id', read, async (_request, reply) => reply.moved('/loans/1'))
  })
  for (const url of ['/v1/books/1', '/v1/loans/1']) t.equal((await app.inject(url)).statusCode, 301)
  t.match(warnings(), [/^versioning: GET \/v1\/loans\/:id links to "\/v1\/lendings\/1", which no GET route serves/])
})

t.test('the result of a job at a path that no GET route serves is warned of, and its status is served', async (t) => {
  const count = defineJob({ name: 'count', input: Loan, result: Loan, handler: async () => loan })
  for (const resultPath of [undefined, () => '/loans/1', () => '/counts/1/sum']) {
    const { app, warnings } = await service(
      t,
      (v1) => {
        v1.jobs.serve(count, '/counts', { resultPath })
        v1.get('/loans/:id', read, async () => loan)
        v1.post(
          '/counts',
          { config: { idempotency: 'off', job: 'start' }, schema: { response: { 202: jobRecordSchema } } },
          async (_request, reply) => reply.accepted(count, loan)
        )
      },
      { jobs: { owner: () => 'ada' } }
    )
    const { location = '' } = (await app.inject({ method: 'POST', url: '/v1/counts' })).headers
    const url = location.replace('https://api.example.com/library', '')
    await until(async () => (await app.inject(url)).json().data.status === 'completed')
    const isServed = resultPath?.() !== '/counts/1/sum'
    t.match(warnings(), isServed ? [] : [/^jobs: GET \/v1\/counts\/:id links to "\/v1\/counts\/1\/sum", which no GET route serves/])
    t.equal(warnings().length, isServed ? 0 : 1)
  }
})

t.test('in production, no link is checked', async (t) => {
  inEnvironment(t, 'production')
  const { app, warnings } = await service(
    t,
    (v1) => void v1.post('/loans', created, async (_request, reply) => reply.created('/loans/1', loan)),
    { idempotency: false, transportSecurity: false }
  )
  t.equal((await app.inject({ method: 'POST', url: '/v1/loans' })).statusCode, 201)
  t.strictSame(warnings(), [])
})
