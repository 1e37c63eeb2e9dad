import { ownTokens } from '@concordat/authentication'
import { testKit } from '@concordat/authentication/testing'
import conventions, { ApiError, serverOptions } from '@concordat/conventions'
import { defineJob, jobRecordSchema, memoryJobStore } from '@concordat/jobs'
import { responseChecker } from '@concordat/openapi/testing'
import { movedDate } from '@concordat/test-harness/moved-date'
import { memoryWorkQueue } from '@concordat/work-queue'
import { handleErrorResponse } from '@inrupt/solid-client-errors'
import { Type } from '@sinclair/typebox'
import Fastify, { type InjectOptions, type LightMyRequestResponse } from 'fastify'
import t, { type Test } from 'tap'

const issuer = 'https://tokens.example.com'
const publicUrl = 'https://api.example.com'
const kit = testKit({ issuer, audience: 'shop' })
const authorization = `Bearer ${kit.token({ sub: 'ada', scope: 'orders:read' })}`
const problem = 'application/problem+json'
const asProblem = { authorization, accept: `${problem}, application/json;q=0.9` }
const Order = Type.Object({ id: Type.String() })
const NewOrder = Type.Object({ items: Type.Array(Type.Object({ quantity: Type.Integer({ minimum: 1 }) })) })

async function start(t: Test, problemDetails: readonly string[] = ['/v2']) {
  const queue = memoryWorkQueue()
  const fails = defineJob({
    name: 'fails',
    input: Type.Object({}),
    result: Type.Object({}),
    handler: async () => {
      throw new Error('fails')
    },
    maxAttempts: 1
  })
  const app = Fastify(serverOptions())
  t.teardown(async () => {
    await app.close()
    await queue.close()
  })
  await app.register(conventions, {
    publicUrl,
    versions: { 1: {}, 2: {} },
    transportSecurity: { dangerouslyAllowHttp: 'loopback' },
    authentication: { issuers: [ownTokens({ issuer, audience: 'shop', keys: kit.keys })], permissions: ['orders:read'] },
    stores: { queue, jobs: memoryJobStore() },
    jobs: {},
    errorCatalogue: { problemDetails }
  })
  let runs = 0
  for (const version of [1, 2])
    await app.apiVersion(version, async (api) => {
      const config = { permissions: ['orders:read'], idempotency: 'off' } as const
      api.get(
        '/failures/:id',
        { config, schema: { params: Type.Object({ id: Type.String() }), response: { 200: Order } } },
        async (request) => {
          const { statusCode, code, message } = app.errorCatalogue.find((request.params as { id: string }).id) as {
            statusCode: number
            code: string
            message: { en: string }
          }
          throw new ApiError(statusCode, code, message.en, { messages: message })
        }
      )
      api.get(
        '/orders/:id',
        { config, schema: { params: Type.Object({ id: Type.String() }), response: { 200: Order } } },
        async (request) => ({
          id: (request.params as { id: string }).id
        })
      )
      api.post(
        '/orders',
        { config: { ...config, idempotency: 'accepted' }, schema: { body: NewOrder, response: { 201: Order } } },
        async () => {
          runs += 1
          throw new ApiError(409, 'CONFLICT', `run ${runs}`, { errors: [] })
        }
      )
      api.batch('/order-batches', { paths: ['/orders'], config: { permissions: ['orders:read'], idempotency: 'off' } })
      api.jobs.serve(fails, '/exports', { config })
      api.post(
        '/exports',
        { config: { ...config, job: 'start' }, schema: { response: { '2xx': jobRecordSchema } } },
        async (_request, reply) => reply.accepted(fails, {})
      )
    })
  await app.ready()
  return app
}

/** Reads a response with a client of another suite. */
function parsed({ statusCode, statusMessage, headers, body }: LightMyRequestResponse) {
  const known = new Headers(Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])))
  return handleErrorResponse({ status: statusCode, statusText: statusMessage, headers: known, url: `${publicUrl}/v2` }, body, 'failed')
}

t.test('each code of the catalogue has both forms, which a client of another suite reads [E4] [S3]', async (t) => {
  const app = await start(t)
  const check = responseChecker((await app.inject({ url: '/v2/openapi' })).json())
  for (const { code, statusCode } of app.errorCatalogue.entries) {
    const request = (accept: string) =>
      app.inject({ url: `/v2/failures/${code}`, headers: { authorization, accept, 'accept-language': 'es' } })
    const [envelope, document] = [await request('application/json'), await request(asProblem.accept)]
    const { error, _meta } = envelope.json()
    const { problemDetails } = parsed(document) as unknown as { problemDetails: { type: URL; instance: URL } }
    t.match([envelope.statusCode, document.statusCode], [statusCode, statusCode], code)
    t.match(
      problemDetails,
      { type: { href: `${publicUrl}/problem-types#${code}` }, title: error.error, status: statusCode, detail: error.message },
      code
    )
    t.match(problemDetails.instance.href, /^urn:uuid:/, code)
    const { code: same, retry, effect, version } = document.json()
    t.strictSame([same, retry, effect, version], [error.code, error.retry, error.effect, _meta.version], code)
    const names = ['content-language', 'retry-after', 'www-authenticate', 'allow', 'vary']
    t.strictSame(
      names.map((name) => document.headers[name]),
      names.map((name) => envelope.headers[name]),
      code
    )
    const ofBody = check({ method: 'GET', url: `/v2/failures/x`, status: statusCode, headers: document.headers, body: document.rawPayload })
    t.strictSame(
      ofBody.filter((one) => !/status code is not described|its code is|header/.test(one) && !/"allowedValues"/.test(one)),
      [],
      code
    )
  }
})

const ordinary = [
  undefined,
  '*/*',
  'application/json',
  'application/*',
  'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  'application/json, application/problem+json',
  'application/json, application/problem+json;q=0.5, */*;q=0.1',
  'image/png'
]

function requests(accept: string | undefined): InjectOptions[] {
  const headers = { authorization, ...(accept !== undefined && { accept }) }
  const keyed = { ...headers, 'idempotency-key': 'k1' }
  const order = { items: [{ quantity: 1 }] }
  return ['/v1', '/v2'].flatMap((version): InjectOptions[] => [
    { url: `${version}/orders/5`, headers },
    { method: 'HEAD', url: `${version}/orders/5`, headers },
    { method: 'OPTIONS', url: `${version}/orders/5`, headers },
    { url: `${version}/orders/5` },
    { url: `${version}/orders/5?x=1`, headers },
    { url: `${version}/failures/SERVICE_UNAVAILABLE`, headers: { ...headers, 'accept-language': 'es' } },
    { url: `${version}/failures/METHOD_NOT_ALLOWED`, headers },
    { method: 'DELETE', url: `${version}/orders/5`, headers },
    { url: `${version}/unknown`, headers },
    { url: version, headers },
    { url: `${version}/%zz`, headers },
    { method: 'POST', url: `${version}/orders`, headers, payload: { items: [{ quantity: 0, more: 1 }] } },
    { method: 'POST', url: `${version}/orders`, headers: { ...headers, 'content-type': 'text/csv' }, payload: 'a' },
    { method: 'POST', url: `${version}/orders`, headers: { ...headers, 'content-type': 'application/json' }, payload: '{' },
    { method: 'POST', url: `${version}/orders`, headers: keyed, payload: order },
    { method: 'POST', url: `${version}/orders`, headers: keyed, payload: order },
    {
      method: 'POST',
      url: `${version}/order-batches`,
      headers,
      payload: { operations: [{ id: 'a', method: 'GET', path: `${version}/failures/x` }] }
    }
  ])
}

t.test('a client that does not ask for problem documents gets the same bytes with the option and without it', async (t) => {
  movedDate(t, Date.UTC(2026, 0, 2, 3, 4, 5))
  const record = async (problemDetails: readonly string[]) => {
    const app = await start(t, problemDetails)
    const recorded: unknown[] = []
    for (const request of ordinary.flatMap(requests)) {
      const { statusCode, rawPayload, headers } = await app.inject(request)
      const { 'request-id': _id, date: _date, ratelimit: _limit, ...others } = headers
      // No hook sees this response, so it varies by Accept only where errors are negotiated.
      if (JSON.stringify(request.url).includes('%zz')) delete others.vary
      recorded.push({ request, statusCode, headers: Object.entries(others), body: rawPayload.toString() })
    }
    return recorded
  }
  const without = await record([])
  t.equal(without.length, ordinary.length * 34)
  t.strictSame(await record(['/v2']), without)
})

t.test('a problem document never selects a success, and a client that accepts nothing else gets 406 for it [N2]', async (t) => {
  const app = await start(t)
  const get = (url: string, accept: string) => app.inject({ url, headers: { authorization, accept } })
  t.match(await get('/v2/orders/5', problem), { statusCode: 406, headers: { 'content-type': problem } })
  t.match((await get('/v2/orders/5', problem)).json(), {
    code: 'NOT_ACCEPTABLE',
    errors: [{ detail: 'application/json is available', parameter: 'accept', in: 'header' }]
  })
  t.match(await get('/v1/orders/5', problem), { statusCode: 406, headers: { 'content-type': /^application\/json/ } })
  t.match(await get('/v2/orders/5', asProblem.accept), { statusCode: 200, headers: { 'content-type': /^application\/json/ } })
  t.match(await get('/v2/orders/5', `${problem}, */*;q=0.1`), { statusCode: 200, headers: { 'content-type': /^application\/json/ } })
  t.match(await get('/v2/failures/FORBIDDEN', problem), { statusCode: 406 }, 'before the handler')
  t.match(await get('/v2/orders/5', `${problem};q=0.5, application/json;q=0`), { statusCode: 406, headers: { 'content-type': problem } })
  t.match((await app.inject({ url: '/v2/orders/5', headers: { accept: problem } })).json(), { code: 'AUTHENTICATION_REQUIRED' })
})

t.test('a stored error is replayed as it is, or rendered in the other form [I3]', async (t) => {
  const app = await start(t)
  const send = (key: string, headers: object) =>
    app.inject({
      method: 'POST',
      url: '/v2/orders',
      headers: { ...headers, 'idempotency-key': key },
      payload: { items: [{ quantity: 1 }] }
    })
  for (const [key, first, second] of [
    ['a', { authorization }, asProblem],
    ['b', asProblem, { authorization }]
  ] as const) {
    const original = await send(key, first)
    const same = await send(key, first)
    const other = await send(key, second)
    const back = await send(key, first)
    t.equal(original.headers['idempotency-replayed'], undefined)
    for (const replay of [same, other, back]) t.match(replay, { statusCode: 409, headers: { 'idempotency-replayed': 'true' } })
    t.equal(same.body, original.body)
    t.equal(back.body, original.body)
    t.not(other.headers['content-type'], original.headers['content-type'])
    const [envelope, document] = (key === 'a' ? [original, other] : [other, original]).map((one) => one.json())
    t.match(document, {
      type: `${publicUrl}/problem-types#CONFLICT`,
      title: envelope.error.error,
      detail: envelope.error.message,
      code: 'CONFLICT',
      retry: envelope.error.retry,
      effect: envelope.error.effect,
      timestamp: envelope._meta.timestamp
    })
    t.match(envelope._links, [{ rel: 'self', href: `${publicUrl}/v2/orders`, method: 'POST' }])
  }
})

t.test('an operation of a batch has the form that its own Accept asks for, and the envelope by default [B1]', async (t) => {
  const app = await start(t)
  const operations = [
    { id: 'own', method: 'POST', path: '/v2/orders', headers: { accept: asProblem.accept }, body: { items: [{ quantity: 0 }] } },
    { id: 'default', method: 'POST', path: '/v2/orders', body: { items: [{ quantity: 0 }] } }
  ]
  const response = await app.inject({ method: 'POST', url: '/v2/order-batches', headers: asProblem, payload: { operations } })
  t.match(response.json().data, [
    {
      id: 'own',
      status: 422,
      headers: { 'content-type': problem },
      body: { code: 'VALIDATION_FAILED', errors: [{ pointer: '#/items/0/quantity' }] }
    },
    { id: 'default', status: 422, body: { error: { code: 'VALIDATION_FAILED', errors: [{ field: 'body.items.0.quantity' }] } } }
  ])
  const refused = await app.inject({ method: 'POST', url: '/v2/order-batches', headers: asProblem, payload: { operations: [{ id: '' }] } })
  t.match(refused, { statusCode: 422, headers: { 'content-type': problem } })
})

t.test('the record of a failed job stays a success, and its missing result is a problem document [A3]', async (t) => {
  const app = await start(t)
  const accepted = await app.inject({ method: 'POST', url: '/v2/exports', headers: asProblem, payload: {} })
  const url = String(accepted.headers['location']).replace(publicUrl, '')
  const record = await app.inject({ url, headers: { ...asProblem, prefer: 'wait=20' } })
  t.match(record, { statusCode: 200, headers: { 'content-type': /^application\/json/ } })
  t.match(record.json().data, { status: 'failed', error: { code: 'JOB_FAILED' } })
  const result = await app.inject({ url: `${url}/result`, headers: asProblem })
  t.match(result, { statusCode: 409, headers: { 'content-type': problem } })
  t.match(result.json(), { type: /#JOB_/, status: 409 })
})

const typesOf = ({ components }: { components: { responses: Record<string, { content: object }> } }) =>
  new Set(Object.values(components.responses).map(({ content }) => Object.keys(content).join()))

t.test('the description has both media types where they are sent, and the route of the types is public', async (t) => {
  const app = await start(t)
  const documentOf = async (version: string) => (await app.inject(`/${version}/openapi`)).json()
  t.strictSame([...typesOf(await documentOf('v2'))], ['application/json,application/problem+json'])
  const first = await documentOf('v1')
  t.strictSame([...typesOf(first)], ['application/json'])
  t.notMatch(JSON.stringify(first), /problem\+json|ProblemDocument/)
  const { data } = (await app.inject('/problem-types')).json()
  t.equal(data.problemTypes.length, app.errorCatalogue.entries.length)
  t.equal((await (await start(t, [])).inject('/problem-types')).statusCode, 404)
})
