// Starts a service with the preset, sends requests to it, and prints the responses without what differs between two runs.
import conventions, { serverOptions } from '@concordat/conventions'
import Fastify from 'fastify'

const Thing = { type: 'object', required: ['id'], properties: { id: { type: 'string' } } }
const NewThing = { type: 'object', required: ['name'], properties: { name: { type: 'string' } } }

const app = Fastify(serverOptions())
await app.register(conventions, {
  publicUrl: 'https://api.example.com',
  versions: { 1: { status: 'current' } },
  transportSecurity: { dangerouslyAllowHttp: 'loopback' },
  authentication: false,
  idempotency: { scope: () => 'a client' }
})
await app.apiVersion(1, async (v1) => {
  v1.get<{ Params: { id: string } }>('/things/:id', { schema: { response: { 200: Thing } } }, async ({ params }) => ({ id: params.id }))
  const schema = { body: NewThing, response: { 201: Thing } }
  v1.post('/things', { config: { idempotency: 'required' }, schema }, async (_request, reply) => reply.created('/things/a', { id: 'a' }))
})
const address = await app.listen({ port: 0, host: '127.0.0.1' })

const shown = ['allow', 'cache-control', 'content-language', 'content-type', 'etag', 'idempotency-replayed', 'location', 'vary']
async function show(method: string, path: string, headers: Record<string, string> = {}, body?: string) {
  const response = await fetch(address + path, { method, headers, ...(body !== undefined && { body }) })
  const text = (await response.text()).replaceAll(/"timestamp":"[^"]*"/g, '"timestamp":""')
  const fields = JSON.stringify(shown.map((name) => response.headers.get(name)))
  process.stdout.write(`${method} ${path} ${response.status} ${fields} ${text}\n`)
  return response.headers.get('etag') ?? ''
}

const json = { 'content-type': 'application/json', 'accept-encoding': 'identity' }
const etag = await show('GET', '/v1/things/7', { 'accept-encoding': 'identity' })
await show('GET', '/v1/things/7', { 'if-none-match': etag, 'accept-encoding': 'identity' })
for (const method of ['HEAD', 'OPTIONS', 'DELETE']) await show(method, '/v1/things/7', { 'accept-encoding': 'identity' })
for (const key of ['"a"', '"a"', '"b"', ''])
  await show('POST', '/v1/things', { ...json, 'idempotency-key': key }, key === '"b"' ? '{' : '{"name":"A"}')
await show('POST', '/v1/things', { ...json, 'idempotency-key': '"c"', 'accept-language': 'es' }, '{}')
await show('GET', '/v1/things/7?x=1')
await show('GET', '/v1/openapi', { 'accept-encoding': 'identity' })
await app.close()
