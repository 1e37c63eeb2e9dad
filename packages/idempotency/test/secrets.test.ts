import idempotency, { type IdempotencyStore, memoryIdempotencyStore, type StoredResponse } from '@concordat/idempotency'
import Fastify, { type FastifyInstance, type RouteHandlerMethod } from 'fastify'
import t, { type Test } from 'tap'

const text = { type: 'string' }
const secret = { type: 'string', 'x-secret': true }
const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more })

interface Input {
  readonly response: unknown
  readonly handler: RouteHandlerMethod
  readonly prepare?: (app: FastifyInstance) => void
}

/** Starts a service whose route has this response schema, and collects what it stores. */
async function service(t: Test, { response, handler, prepare }: Input) {
  const store = memoryIdempotencyStore()
  const stored: StoredResponse[] = []
  const collecting: IdempotencyStore = {
    ...store,
    complete(claim, one, lifetimeMs) {
      stored.push(one)
      return store.complete(claim, one, lifetimeMs)
    }
  }
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(idempotency, { scope: () => 'ada', store: collecting })
  prepare?.(app)
  app.post('/keys', { config: { idempotency: 'required' }, schema: { response } }, handler)
  await app.ready()
  const send = () => app.inject({ method: 'POST', url: '/keys', payload: {}, headers: { 'idempotency-key': 'k' } })
  return { stored, first: await send(), retry: await send() }
}

const shared = { $id: 'Key', ...object({ id: text, value: secret }) }
const node = { $id: 'T0', ...object({ id: text, value: secret, children: { type: 'array', items: { $ref: 'T0' } } }) }

/** What a handler returns, its schema, and what remains of it in a replay. */
const cases: Readonly<Record<string, { schema: object; sent: unknown; replayed: unknown }>> = {
  'a member': { schema: object({ id: text, value: secret }), sent: { id: '1', value: 's1' }, replayed: { id: '1' } },
  'a member of an object in a list': {
    schema: object({ keys: { type: 'array', items: object({ id: text, value: secret }) } }),
    sent: { keys: [{ id: '1', value: 's1' }, { id: '2' }] },
    replayed: { keys: [{ id: '1' }, { id: '2' }] }
  },
  'a list of secrets': {
    schema: object({ id: text, codes: { type: 'array', items: secret } }),
    sent: { id: '1', codes: ['s1', 's2'] },
    replayed: { id: '1' }
  },
  'the values of a map': {
    schema: object({ byName: { type: 'object', additionalProperties: secret } }),
    sent: { byName: { one: 's1', two: 's2' } },
    replayed: { byName: {} }
  },
  'members with names of a pattern': {
    schema: object({ id: text }, { patternProperties: { '^key': secret } }),
    sent: { id: '1', key1: 's1', key2: 's2' },
    replayed: { id: '1' }
  },
  'a branch of a union': {
    schema: object({ key: { anyOf: [object({ kind: { const: 'a' }, value: secret }), object({ kind: { const: 'b' } })] } }),
    sent: { key: { kind: 'a', value: 's1' } },
    replayed: { key: { kind: 'a' } }
  },
  'a member of a combined schema': {
    schema: { allOf: [object({ id: text }), object({ value: secret })] },
    sent: { id: '1', value: 's1' },
    replayed: { id: '1' }
  },
  'a shared schema': { schema: object({ key: { $ref: 'Key#' } }), sent: { key: { id: '1', value: 's1' } }, replayed: { key: { id: '1' } } },
  'a shared schema that is the mark': {
    schema: object({ id: text, key: { $ref: 'Key#/properties/value' } }),
    sent: { id: '1', key: 's1' },
    replayed: { id: '1' }
  },
  'a schema that contains itself': {
    schema: object(
      { tree: { $ref: '#/definitions/Node' } },
      { definitions: { Node: object({ value: secret, next: { $ref: '#/definitions/Node' } }) } }
    ),
    sent: { tree: { value: 's1', next: { value: 's2', next: {} } } },
    replayed: { tree: { next: { next: {} } } }
  },
  'a schema with an id of its own': {
    schema: node,
    sent: { id: '1', value: 's1', children: [{ id: '2', value: 's2', children: [] }] },
    replayed: { id: '1', children: [{ id: '2', children: [] }] }
  }
}

for (const [name, { schema, sent, replayed }] of Object.entries(cases)) {
  t.test(`a secret is sent once, and neither stored nor replayed: ${name} [I3]`, async (t) => {
    const { first, retry, stored } = await service(t, {
      response: { 201: schema },
      prepare: (app) => app.addSchema(shared),
      handler: async (_request, reply) => reply.code(201).header('location', '/keys/1').send(sent)
    })
    t.strictSame(first.json(), sent)
    t.equal(first.headers['idempotency-status'], undefined)
    t.strictSame(retry.json(), replayed)
    t.match(retry, {
      statusCode: 201,
      headers: { 'idempotency-replayed': 'true', 'idempotency-status': 'incomplete', location: '/keys/1' }
    })
    t.equal(stored.length, 1)
    t.notMatch(String(stored[0]?.body), /s[12]/)
  })
}

t.test('a response of a route with secrets that has none is replayed byte for byte', async (t) => {
  const schema = object({ total: { type: 'integer' }, value: secret })
  const { first, retry } = await service(t, { response: { '2xx': schema }, handler: async () => ({ total: 90071992547409931n }) })
  t.equal(first.body, '{"total":90071992547409931}')
  t.strictSame([retry.body, retry.headers['idempotency-status']], [first.body, undefined])
})

t.test('a replay without a secret has every digit of the numbers of the response', async (t) => {
  const schema = object({ total: { type: 'integer' }, map: { type: 'object', additionalProperties: { type: 'integer' } }, value: secret })
  const { retry } = await service(t, {
    response: { default: schema },
    handler: async () => ({ total: 90071992547409931n, map: { a: 90071992547409933n }, value: 's1' })
  })
  t.equal(retry.body, '{"total":90071992547409931,"map":{"a":90071992547409933}}')
})

t.test('the mark of one media type applies to all of the status, and what is not JSON is not stored', async (t) => {
  const response = {
    201: { content: { 'application/json': { schema: object({ id: text, value: secret }) }, 'text/plain': { schema: text } } }
  }
  const json = await service(t, { response, handler: async (_request, reply) => reply.code(201).send({ id: '1', value: 's1' }) })
  t.strictSame(json.retry.json(), { id: '1' })
  for (const type of ['text/plain', 'application/json']) {
    const { first, retry } = await service(t, { response, handler: async (_request, reply) => reply.code(201).type(type).send('s1') })
    t.equal(first.body, 's1')
    t.strictSame([retry.statusCode, retry.body, retry.headers['idempotency-status']], [201, '', 'incomplete'])
  }
})

t.test('a response schema that requires a secret, or is a secret as a whole, stops the start', async (t) => {
  const required = (schema: object) => object({ key: schema }, { required: ['key'] })
  const refused: [object, string][] = [
    [
      object({ value: secret }, { required: ['value'] }),
      'requires "value", which is marked x-secret and absent in a replay. Make it optional.'
    ],
    [required(secret), 'requires "key", which is marked x-secret and absent in a replay. Make it optional.'],
    [required({ type: 'array', items: secret }), 'requires "key", which is marked x-secret and absent in a replay. Make it optional.'],
    [required({ $ref: 'Key#/properties/value' }), 'requires "key", which is marked x-secret and absent in a replay. Make it optional.'],
    [
      object({ keys: { type: 'array', items: object({ value: secret }, { required: ['value'] }) } }),
      'requires "keys.*.value", which is marked x-secret and absent in a replay. Make it optional.'
    ],
    [
      { allOf: [object({ value: secret }), { type: 'object', required: ['value'] }] },
      'requires "value", which is marked x-secret and absent in a replay. Make it optional.'
    ],
    [secret, 'is marked x-secret as a whole. Mark an optional member of an object.'],
    [{ type: 'array', items: secret }, 'is marked x-secret as a whole. Mark an optional member of an object.']
  ]
  for (const [schema, reason] of refused) {
    await t.rejects(
      service(t, { response: { 201: schema }, prepare: (app) => app.addSchema(shared), handler: async () => ({}) }),
      new TypeError(`idempotency: POST /keys: schema.response.201 ${reason}`)
    )
  }
})

t.test('a route that accepts no keys may require a secret', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(idempotency, { scope: () => 'ada' })
  const response = { 200: object({ value: secret }, { required: ['value'] }) }
  app.post('/keys', { config: { idempotency: 'off' }, schema: { response } }, async () => ({ value: 's1' }))
  t.strictSame((await app.inject({ method: 'POST', url: '/keys' })).json(), { value: 's1' })
})
