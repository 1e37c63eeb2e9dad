import { Readable } from 'node:stream'
import envelope from '@concordat/envelope'
import { type Contracts, publish } from '@concordat/plugin-kit/wiring'
import Fastify, { type RouteHandlerMethod } from 'fastify'
import t from 'tap'

const Thing = { type: 'object', required: ['id'], properties: { id: { type: 'string' }, note: { type: 'string' } } }
const stored = { id: '1', note: null, passwordHash: 'canary-8f3a' }

interface Line {
  readonly level: number
  readonly msg: string
}

async function service(response: object, handler: RouteHandlerMethod, transactions?: Contracts['transactions']) {
  const lines: Line[] = []
  const app = Fastify({ logger: { level: 'error', stream: { write: (line: string) => void lines.push(JSON.parse(line)) } } })
  if (transactions !== undefined) publish(app, { transactions })
  await app.register(envelope, { publicUrl: 'https://api.example.com' })
  app.post('/things', { schema: { response } }, handler)
  return { send: () => app.inject({ method: 'POST', url: '/things' }), lines }
}

const declarations: readonly (readonly [string, object, unknown])[] = [
  ['a resource of 200', { 200: Thing }, { id: '1' }],
  ['a resource of 201', { 201: Thing }, { id: '1' }],
  ['resources of several statuses', { 200: Thing, 201: Thing }, { id: '1' }],
  [
    'JSON beside another type',
    { 200: { content: { 'application/json': { schema: Thing }, 'text/csv': { schema: { type: 'string' } } } } },
    { id: '1' }
  ],
  ['no body', { 204: { type: 'null' } }, null],
  ['a redirection', { 303: { type: 'null' } }, null],
  ['only CSV', { 200: { content: { 'text/csv': { schema: { type: 'string' } } } } }, null],
  ['only another JSON type', { 200: { content: { 'application/vnd.thing+json': { schema: Thing } } } }, null],
  [
    'a resource that the data does not match',
    { 200: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } } },
    null
  ]
]

const handlers: readonly RouteHandlerMethod[] = [
  async (_request, reply) => {
    reply.code(202)
    return stored
  },
  (_request, reply) => void reply.code(202).send(stored)
]

t.test('a successful status that is not declared is sent, with what a declared resource has, and logged once [F9]', async (t) => {
  for (const [title, response, data] of declarations) {
    for (const way of handlers) {
      const { send, lines } = await service(response, way)
      for (let time = 0; time < 2; time += 1) {
        const received = await send()
        t.equal(received.statusCode, 202, title)
        t.match(received.json(), { data, _links: [{ rel: 'self' }], _meta: { version: 'v1' } }, title)
        t.strictSame(received.json().data, data, title)
        t.match(received.headers['content-type'], 'application/json')
      }
      t.match(
        lines,
        [{ level: 50, msg: /^envelope: POST \/things responded with 202, which its schema\.response does not declare\. It is sent/ }],
        title
      )
      t.equal(lines.length, 1, title)
    }
  }
})

const bodies: readonly (readonly [string, () => unknown])[] = [
  ['nothing', () => undefined],
  ['null', () => null],
  ['a string', () => 'canary-8f3a'],
  ['a Buffer', () => Buffer.from('canary-8f3a')],
  ['a stream', () => Readable.from(['canary-8f3a'])],
  ['a Response', () => new Response('canary-8f3a', { status: 202 })]
]

t.test('a body that no schema describes is not sent with it', async (t) => {
  for (const [title, body] of bodies) {
    const { send, lines } = await service({ 200: Thing }, (_request, reply) => void reply.code(202).send(body()))
    const received = await send()
    t.match([received.statusCode, received.json()], [202, { data: null, _links: [{ rel: 'self' }] }], title)
    t.equal(Number(received.headers['content-length']), Buffer.byteLength(received.body), title)
    t.equal(lines.length, 1, title)
  }
})

t.test('in a transaction it is a 500, which rolls the transaction back', async (t) => {
  const transactions: Contracts['transactions'] = {
    transactionOf: () => ({ beforeCommit: () => undefined }),
    currentTransaction: () => undefined
  }
  for (const body of [stored, ...bodies.map(([, make]) => make())]) {
    const { send } = await service({ 200: Thing }, (_request, reply) => void reply.code(202).send(body), transactions)
    const received = await send()
    t.match([received.statusCode, received.json()], [500, { code: 'INTERNAL_ERROR' }])
    t.notMatch(received.body, 'canary')
  }
  const outside = { ...transactions, transactionOf: () => undefined }
  t.equal((await (await service({ 200: Thing }, (_request, reply) => void reply.code(202).send(stored), outside)).send()).statusCode, 202)
})

t.test('a read has no effect, so its response is a 500', async (t) => {
  const app = Fastify()
  await app.register(envelope, { publicUrl: 'https://api.example.com' })
  const response: object = { 200: Thing }
  app.get('/things', { schema: { response } }, async (_request, reply) => reply.code(202).send(stored))
  for (const method of ['GET', 'HEAD'] as const) t.equal((await app.inject({ method, url: '/things' })).statusCode, 500)
})

t.test('an object for a status that is declared without JSON is a 500', async (t) => {
  const { send } = await service({ 200: { content: { 'text/csv': { schema: { type: 'string' } } } } }, async () => stored)
  t.equal((await send()).statusCode, 500)
})
