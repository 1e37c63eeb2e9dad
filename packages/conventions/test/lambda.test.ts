import conventions, { serverOptions } from '@concordat/conventions'
import awsLambdaFastify from '@fastify/aws-lambda'
import Fastify from 'fastify'
import t from 'tap'

const Thing = { type: 'object', required: ['id'], properties: { id: { type: 'string' } } }

t.test('the preset works behind API Gateway with @fastify/aws-lambda', async (t) => {
  const app = Fastify(serverOptions())
  t.teardown(() => app.close())
  await app.register(conventions, {
    publicUrl: 'https://api.example.com',
    versions: { 1: {} },
    transportSecurity: { dangerouslyAllowHttp: true },
    authentication: false
  })
  await app.apiVersion(1, async (v1) => {
    v1.get('/things/:id', { schema: { response: { 200: Thing } } }, async () => ({ id: '1' }))
  })
  const proxy = awsLambdaFastify(app)
  const call = async (path: string) => {
    const event = {
      version: '2.0',
      rawPath: path,
      rawQueryString: '',
      headers: { host: 'x' },
      requestContext: { http: { method: 'GET', path } }
    }
    const { statusCode, body, headers } = (await proxy(event, {})) as {
      statusCode: number
      body: string
      headers: Record<string, string>
    }
    return { statusCode, headers, json: JSON.parse(body) }
  }
  t.match(await call('/v1/things/1'), { statusCode: 200, headers: { 'request-id': /./, etag: /./ }, json: { data: { id: '1' } } })
  t.match(await call('/v1/none'), { statusCode: 404, json: { error: { code: 'RESOURCE_NOT_FOUND' } } })
})
