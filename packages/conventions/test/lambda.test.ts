import { gunzipSync } from 'node:zlib'
import conventions, { serverOptions } from '@concordat/conventions'
import { inEnvironment } from '@concordat/test-harness/environment'
import awsLambdaFastify from '@fastify/aws-lambda'
import Fastify from 'fastify'
import t, { type Test } from 'tap'

const Thing = { type: 'object', required: ['id'], properties: { id: { type: 'string' }, ip: { type: 'string' }, text: { type: 'string' } } }
const client = '203.0.113.7'
const host = 'abc.execute-api.eu-west-1.amazonaws.com'
const forwarded = { host, 'x-forwarded-proto': 'https', 'x-forwarded-for': `198.51.100.1, ${client}` }
const edge = '130.176.1.1'

interface Call {
  readonly method?: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}
type Result = {
  readonly statusCode: number
  readonly body: string
  readonly headers: Record<string, string>
  readonly isBase64Encoded: boolean
}

// The events of an HTTP API or a function URL, of a REST API, and of a load balancer.
const gateways: Readonly<Record<string, (call: Required<Call>) => object>> = {
  'an HTTP API': ({ method, path, headers, body }) => ({
    version: '2.0',
    rawPath: path,
    rawQueryString: '',
    headers,
    body,
    requestContext: { http: { method, path, sourceIp: client } }
  }),
  'a REST API': ({ method, path, headers, body }) => ({
    httpMethod: method,
    path,
    headers,
    body,
    requestContext: { identity: { sourceIp: client } }
  }),
  'a REST API with an edge server': ({ method, path, headers, body }) => ({
    httpMethod: method,
    path,
    headers: { ...headers, 'x-forwarded-for': `${headers['x-forwarded-for']}, ${edge}` },
    body,
    requestContext: { identity: { sourceIp: client } }
  }),
  'a load balancer': ({ method, path, headers, body }) => ({
    httpMethod: method,
    path,
    headers,
    body,
    requestContext: { elb: { targetGroupArn: 'arn:aws:elasticloadbalancing:x' } }
  })
}

async function start(t: Test, environment: string, rateLimiting = {}) {
  inEnvironment(t, environment)
  const app = Fastify(serverOptions({ trustProxy: ['gateway'] }))
  t.teardown(() => app.close())
  await app.register(conventions, {
    publicUrl: 'https://api.example.com',
    allowedHosts: [host],
    versions: { 1: {} },
    authentication: false,
    rateLimiting,
    idempotency: { scope: ({ ip }) => ip, dangerouslyUnshared: true }
  })
  await app.apiVersion(1, async (v1) => {
    v1.get('/things/:id', { schema: { response: { 200: Thing } } }, async ({ ip }) => ({ id: '1', ip, text: 'ü'.repeat(2000) }))
    v1.post<{ Body: object }>(
      '/things',
      { config: { idempotency: 'accepted' }, schema: { body: Thing, response: { 201: Thing } } },
      async ({ body }, reply) => reply.created('/things/1', body)
    )
  })
  return app
}

for (const [gateway, eventOf] of Object.entries(gateways))
  t.test(`the preset works in production on AWS Lambda behind ${gateway}, with @fastify/aws-lambda`, async (t) => {
    const app = await start(t, 'production')
    const proxy = awsLambdaFastify(app)
    const call = async ({ method = 'GET', path, headers = forwarded, body = '' }: Call) => {
      const result = (await proxy(eventOf({ method, path, headers, body }), {})) as Result
      const bytes = Buffer.from(result.body, result.isBase64Encoded ? 'base64' : 'utf8')
      return { ...result, json: JSON.parse(String(result.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes)) }
    }
    const read = await call({ path: '/v1/things/1' })
    t.match(read, { statusCode: 200, headers: { 'request-id': /./, etag: /./, 'strict-transport-security': /^max-age=/ } })
    t.match(read.json, { data: { id: '1', ip: client }, _links: [{ href: 'https://api.example.com/v1/things/1' }] })
    const zipped = await call({ path: '/v1/things/1', headers: { ...forwarded, 'accept-encoding': 'gzip' } })
    t.match([zipped.statusCode, zipped.headers['content-encoding'], zipped.json.data.id], [200, 'gzip', '1'])
    const json = { ...forwarded, 'content-type': 'application/json' }
    const created = await call({ method: 'POST', path: '/v1/things', headers: json, body: '{"id":"é"}' })
    t.match([created.statusCode, created.json.data], [201, { id: 'é' }])
    t.match(await call({ method: 'POST', path: '/v1/things', headers: json, body: '{' }), {
      statusCode: 400,
      json: { error: { code: 'MALFORMED_JSON' } }
    })
    t.match(await call({ path: '/v1/none' }), { statusCode: 404, json: { error: { code: 'RESOURCE_NOT_FOUND' } } })
    for (const protocol of ['http', 'https, http', ''])
      t.match(
        await call({ path: '/v1/things/1', headers: { ...forwarded, 'x-forwarded-proto': protocol } }),
        { statusCode: 403, json: { error: { code: 'HTTPS_REQUIRED' } } },
        protocol
      )
    t.match(await call({ path: '/v1/things/1', headers: { ...forwarded, host: 'other.example' } }), { statusCode: 421 })
  })

t.test('clients behind one edge server, and with one, have limits of their own', async (t) => {
  const app = await start(t, 'production', { addressLimit: { limit: 2, windowSeconds: 60 } })
  const proxy = awsLambdaFastify(app)
  const statuses = []
  for (const sourceIp of ['203.0.113.7', '203.0.113.7', '203.0.113.7', '203.0.113.8', '2001:db8::1']) {
    const headers = { ...forwarded, 'x-forwarded-for': `10.9.9.9, ${sourceIp}, ${edge}` }
    const event = { httpMethod: 'GET', path: '/v1/things/1', headers, body: '', requestContext: { identity: { sourceIp } } }
    const { statusCode, body } = (await proxy(event, {})) as Result
    statuses.push(statusCode === 200 ? JSON.parse(body).data.ip : statusCode)
  }
  t.strictSame(statuses, ['203.0.113.7', '203.0.113.7', 429, '203.0.113.8', '2001:db8::1'])
})

for (const environment of ['production', 'development'])
  t.test(`a service that trusts a gateway must not listen: ${environment}`, async (t) => {
    const message =
      /^transport-security: options\.trustProxy is \['gateway'\], so the service must not listen.* Pass requests to app\.inject, or list the proxies in trustProxy\.$/
    await t.rejects((await start(t, environment)).listen({ host: '127.0.0.1', port: 0 }), { message })
    await t.rejects((await start(t, environment)).listen(), { message })
    const app = await start(t, environment)
    t.match(await new Promise((resolve) => app.listen({ port: 0 }, resolve)), { message })
    t.strictSame(app.addresses(), [])
  })
