import { ownTokens } from '@concordat/authentication'
import { testKit } from '@concordat/authentication/testing'
import conventions, { type ConventionsOptions, serverOptions } from '@concordat/conventions'
import { defineJob, jobRecordSchema, memoryJobStore } from '@concordat/jobs'
import { until } from '@concordat/test-harness/until'
import { memoryWorkQueue } from '@concordat/work-queue'
import Fastify, { type LightMyRequestResponse } from 'fastify'
import t, { type Test } from 'tap'

const issuer = 'https://tokens.example.com'
const kit = testKit({ issuer, audience: 'sums' })
const origin = 'https://api.example.com'
const Numbers = { type: 'object', required: ['upTo'], additionalProperties: false, properties: { upTo: { type: 'integer' } } }
const Sum = { type: 'object', required: ['sum'], properties: { sum: { type: 'integer' } } }

async function start(t: Test, options: Partial<ConventionsOptions> = {}, onComplete: 'link' | 'redirect' = 'link') {
  const sum = defineJob<{ upTo: number }, { sum: number }>({
    name: 'sum',
    input: Numbers,
    result: Sum,
    handler: async ({ upTo }) => ({ sum: (upTo * (upTo + 1)) / 2 })
  })
  const queue = memoryWorkQueue()
  const app = Fastify(serverOptions())
  t.teardown(async () => {
    await app.close()
    await queue.close()
  })
  await app.register(conventions, {
    publicUrl: origin,
    versions: { 1: { status: 'current' } },
    transportSecurity: { dangerouslyAllowHttp: 'loopback' },
    authentication: { issuers: [ownTokens({ issuer, audience: 'sums', keys: kit.keys })], permissions: ['sums:create'] },
    stores: { queue, jobs: memoryJobStore() },
    jobs: {},
    ...options
  })
  await app.apiVersion(1, async (v1) => {
    const config = { permissions: ['sums:create'], idempotency: 'off' } as const
    v1.jobs.serve(sum, '/sums', { config, onComplete })
    // The job validates the body, so the route does not.
    v1.post<{ Body: { upTo: number } }>(
      '/sums',
      { config: { ...config, job: 'start' }, schema: { response: { '2xx': jobRecordSchema } } },
      async (request, reply) => reply.accepted(sum, request.body)
    )
  })
  await app.ready()
  return app
}

const as = (sub: string, more: Record<string, string> = {}) => ({
  authorization: `Bearer ${kit.token({ sub, scope: 'sums:create' })}`,
  ...more
})
const path = (href: unknown) => String(href).replace(origin, '')

t.test('a job is accepted, readable only by its owner, and its record and result are in the envelope [A1] [A2] [E7]', async (t) => {
  const app = await start(t)
  const accepted = await app.inject({ method: 'POST', url: '/v1/sums', headers: as('ada'), body: { upTo: 4 } })
  t.match([accepted.statusCode, accepted.headers['retry-after']], [202, '2'])
  const { data, _meta } = accepted.json()
  const location = `${origin}/v1/sums/${data.jobId}`
  t.match(data, { status: 'queued', _links: [{ rel: 'status', href: location, method: 'GET' }] })
  t.match([accepted.headers.location, _meta.version], [location, 'v1'])

  const over = await app.inject({ url: path(location), headers: as('ada', { prefer: 'wait=5' }) })
  t.match(over.json(), { data: { status: 'completed' }, _links: [{ rel: 'self', href: location }] })
  const { href } = over.json().data._links[1]
  t.strictSame((await app.inject({ url: path(href), headers: as('ada') })).json().data, { sum: 10 })
  for (const url of [location, href])
    t.match((await app.inject({ url: path(url), headers: as('bob') })).json().error, { status: 404, code: 'JOB_NOT_FOUND' })
})

t.test('with the envelope too, a completed job redirects to its result with 303, unless the client prefers the record [A3]', async (t) => {
  const app = await start(t, {}, 'redirect')
  const { headers } = await app.inject({ method: 'POST', url: '/v1/sums', headers: as('ada', { prefer: 'wait=5' }), body: { upTo: 4 } })
  const url = path(headers.location)
  const sentOn = await app.inject({ url, headers: as('ada') })
  t.match([sentOn.statusCode, sentOn.headers.location, sentOn.body], [303, `${origin}${url}/result`, ''])
  t.strictSame((await app.inject({ url: path(sentOn.headers.location), headers: as('ada') })).json().data, { sum: 10 })
  const record = await app.inject({ url, headers: as('ada', { prefer: 'return=representation' }) })
  t.match([record.statusCode, record.json().data], [200, { status: 'completed' }])
})

t.test('a job with invalid input is refused in the language of the client, and does not start [G1]', async (t) => {
  const app = await start(t)
  const response = await app.inject({
    method: 'POST',
    url: '/v1/sums',
    headers: as('ada', { 'accept-language': 'es' }),
    body: { upTo: 'four', to: 1 }
  })
  t.match(response.json().error, {
    status: 422,
    error: 'ValidationError',
    code: 'JOB_INPUT_INVALID',
    message: 'La entrada del trabajo no es válida. Corrija los campos indicados en `errors`.',
    errors: [
      { field: 'body.to', message: 'no es un campo conocido' },
      { field: 'body.upTo', message: 'debe ser de tipo integer' }
    ]
  })
  t.equal(response.headers.location, undefined)
})

t.test('the description has the responses of the routes of a job', async (t) => {
  const app = await start(t)
  const { paths, components } = (await app.inject('/v1/openapi')).json()
  const codes = (operation: { responses: Record<number, { $ref: string }> }, status: number) =>
    JSON.stringify(components.responses[String(operation.responses[status]?.$ref.split('/').at(-1))])
  const [accepted, status, result] = ['/v1/sums', '/v1/sums/{id}', '/v1/sums/{id}/result'].map((path) => paths[path])
  t.match(codes(accepted.post, 422), 'JOB_INPUT_INVALID')
  t.match(codes(status.get, 410), 'JOB_EXPIRED')
  t.match(codes(status.delete, 409), 'JOB_ALREADY_OVER')
  t.match(codes(result.get, 409), 'JOB_HAS_NO_RESULT')
  t.match(status.get.responses[200].headers['Retry-After'], {})
  t.match(JSON.stringify(status.get.parameters), '"name":"Prefer"')
})

t.test('without the option jobs, a service has no jobs; without authentication, jobs need an owner', async (t) => {
  const without = Fastify(serverOptions())
  await without.register(conventions, { versions: { 1: {} }, authentication: false })
  t.notOk(without.hasDecorator('jobs'))
  t.equal(without.errorCatalogue.find('JOB_NOT_FOUND'), undefined)
  const nobody = Fastify(serverOptions())
  await nobody.register(conventions, { versions: { 1: {} }, authentication: false, jobs: {} })
  await t.rejects(async () => nobody.ready(), /options\.owner is missing/)
})

t.test('clients that wait for a job do not count as requests in flight', async (t) => {
  const overload = { minInFlight: 2, maxInFlight: 2, maxEventLoopDelayMs: 60_000 }
  const app = await start(t, { jobs: { worker: false }, rateLimiting: { overload } })
  const accepted = await app.inject({ method: 'POST', url: '/v1/sums', headers: as('ada'), body: { upTo: 4 } })
  const request = { url: path(accepted.headers.location), headers: as('ada') }
  const waiting: Promise<LightMyRequestResponse>[] = []
  let ended = 0
  for (let clients = 0; clients < 6; clients += 1) {
    const response = app.inject({ ...request, headers: { ...request.headers, prefer: 'wait=5' } })
    waiting.push(response.finally(() => (ended += 1)))
    await until(async () => (await app.inject(request)).statusCode === 200)
  }
  t.equal(ended, 0)
  t.equal((await app.inject({ ...request, method: 'DELETE' })).statusCode, 204)
  for (const wait of waiting) t.match((await wait).json().data, { status: 'cancelled' })
})
