import { hash } from 'node:crypto'
import idempotency, { memoryIdempotencyStore } from '@concordat/idempotency'
import Fastify, { type FastifyInstance } from 'fastify'

const text = { type: 'string' }
const line = { type: 'object', required: ['product', 'quantity'], properties: { product: text, quantity: { type: 'integer' } } }
const schema = {
  body: {
    type: 'object',
    required: ['customer', 'lines'],
    properties: { customer: text, note: text, lines: { type: 'array', items: line } }
  },
  response: {
    201: { type: 'object', required: ['id', 'customer'], properties: { id: text, customer: text, lines: { type: 'array', items: line } } }
  }
}

export async function serve(way: string) {
  const app = Fastify()
  const isOurs = way === 'new key' || way === 'replay'
  if (isOurs) await app.register(idempotency, { scope: () => 'ada', store: memoryIdempotencyStore({ maxKeys: 1e7, maxBytes: 4e9 }) })
  if (way === 'hand-written') storeResponsesManually(app)
  let orders = 0
  app.post<{ Body: { customer: string; lines: unknown[] } }>(
    '/orders',
    { schema, ...(isOurs && { config: { idempotency: 'required' } }) },
    async ({ body }, reply) => {
      orders += 1
      reply.code(201).header('location', `/orders/${orders}`)
      return { id: String(orders), ...body }
    }
  )
  return { app }
}

interface ReceivedResponse {
  readonly fingerprint: string
  status: number
  headers: Record<string, string>
  payload: string | undefined
}

// The minimum of any gate: two digests and the stored response. It has no lease, no waiting, and no handling of a store that fails.
function storeResponsesManually(app: FastifyInstance) {
  const responses = new Map<string, ReceivedResponse>()
  app.decorateRequest('response', null)
  app.addHook<{ Headers: { 'idempotency-key': string } }>('preHandler', (request, reply, done) => {
    const key = hash('sha256', `ada ${request.headers['idempotency-key']}`, 'base64url')
    const fingerprint = hash('sha256', `${request.method} ${request.url} ${JSON.stringify(request.body)}`, 'base64url')
    const response = responses.get(key)
    if (response === undefined) {
      const made = { fingerprint, status: 0, headers: {}, payload: undefined }
      responses.set(key, made)
      request.setDecorator('response', made)
      return done()
    }
    if (response.payload === undefined || response.fingerprint !== fingerprint) return done(new Error('The key is in use.'))
    reply.code(response.status).headers(response.headers).header('idempotency-replayed', 'true').send(response.payload)
  })
  app.addHook('onSend', (request, reply, payload, done) => {
    const response = request.getDecorator<ReceivedResponse | null>('response')
    if (response !== null) {
      response.status = reply.statusCode
      response.headers = { 'content-type': String(reply.getHeader('content-type')), location: String(reply.getHeader('location')) }
      response.payload = String(payload)
    }
    done(null, payload)
  })
}
