import conditionalCaching, {
  type ConditionalCachingOptions,
  type Preconditions,
  type ValidatorFunction
} from '@concordat/conditional-caching'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, type HTTPMethods, type RouteOptions } from 'fastify'
import t from 'tap'

type Validator = Awaited<ReturnType<ValidatorFunction>>

const writes = ['POST', 'PUT', 'PATCH', 'DELETE'] as const
const changed = new Date('2026-03-01T12:00:00.700Z')
/** The date that clients get: the first second after the second of the change. */
const changedAt = 'Sun, 01 Mar 2026 12:00:01 GMT'
const earlier = 'Sun, 01 Mar 2026 12:00:00 GMT'

type Found = Validator | (() => Validator | Promise<Validator>) | undefined

// A resource that every method changes; `received` records the preconditions of each change.
async function service(found: Found, options: ConditionalCachingOptions & { requireIfMatch?: boolean } = {}) {
  const { requireIfMatch = false, ...own } = options
  const app = Fastify()
  await app.register(conditionalCaching, own)
  const received: Pick<Preconditions, 'createOnly'>[] = []
  const handler = async ({ preconditions }: FastifyRequest, reply: FastifyReply) => {
    received.push({ createOnly: preconditions.createOnly, versions: preconditions.versions() } as never)
    return reply.entityTag(8).header('last-modified', changedAt).send({})
  }
  const validator = typeof found === 'function' ? found : () => found as Validator
  app.route({ method: [...writes], url: '/', config: { requireIfMatch, ...(found && { validator }) }, handler })
  const call = async (method: (typeof writes)[number], headers: Record<string, string>) => {
    received.length = 0
    const response = await app.inject({ method, url: '/', headers })
    return { status: response.statusCode, headers: response.headers, message: response.json().message as string, received: [...received] }
  }
  return { app, call }
}

const version7: Validator = { exists: true, etag: 7, lastModified: changed }
const later = (found: Validator) => async () => found

t.test('a change whose If-Match matches is made, and gets the version that its write must find [O1]', async (t) => {
  for (const found of [version7, later(version7)]) {
    const { call } = await service(found)
    const fields = ['"7"', '"6", "7"', '"7--gzip"', '"7--br"', ' "7" ', 'W/"7","7"']
    for (const method of writes) {
      for (const field of fields) {
        const { status, received } = await call(method, { 'if-match': field })
        t.strictSame([status, received], [200, [{ createOnly: false, versions: ['7'] }]], `${method} ${field}`)
      }
      t.strictSame((await call(method, { 'if-match': '*' })).received, [{ createOnly: false, versions: '*' }])
      t.strictSame((await call(method, { 'if-unmodified-since': changedAt })).received, [{ createOnly: false, versions: ['7'] }])
      t.strictSame((await call(method, { 'if-none-match': '"6"' })).received, [{ createOnly: false, versions: ['7'] }])
      t.strictSame((await call(method, {})).received, [{ createOnly: false, versions: null }])
    }
  }
})

t.test('returns 412 with the current tag when If-Match does not match, and the change is not made [O1] [X1]', async (t) => {
  const wrong = [
    ['"6"', /is not in the state that the request requires/],
    ['"6", "8--gzip"', /is not in the state that the request requires/],
    ['"77"', /is not in the state that the request requires/],
    ['"7--lzma"', /is not in the state that the request requires/],
    ['W/"6"', /is not in the state that the request requires/],
    ['W/"7"', /weak entity tag.*A proxy that compresses responses may have weakened it/],
    ['"6",W/"7--gzip"', /weak entity tag/],
    ['7', /not a valid list of entity tags/],
    ['"7', /not a valid list/],
    ['*, "7"', /not a valid list/],
    ['"7", *', /not a valid list/],
    ['"7" "8"', /not a valid list/],
    ['', /not a valid list/],
    [`"7"${', "6"'.repeat(900)}`, /longer than 4,096 characters/]
  ] as const
  for (const found of [version7, later(version7)]) {
    const { call } = await service(found)
    for (const method of writes) {
      for (const [field, message] of wrong) {
        const response = await call(method, { 'if-match': field })
        t.match(response, { status: 412, message, headers: { etag: /^"7~[\w-]{11}"$/, 'cache-control': 'no-store' } }, `${method} ${field}`)
        t.strictSame(response.received, [])
      }
    }
  }
})

t.test('If-Unmodified-Since without If-Match gets 412 if the resource changed later, and is ignored if invalid [O1]', async (t) => {
  const { call } = await service(version7)
  t.match(await call('PATCH', { 'if-unmodified-since': earlier }), { status: 412, received: [] })
  t.match(await call('PATCH', { 'if-unmodified-since': earlier, 'if-match': '"7"' }), { status: 200 }, 'If-Match takes precedence')
  t.match(await call('PATCH', { 'if-unmodified-since': 'yesterday' }), { status: 200, received: [{}] })
  t.match(await call('PATCH', { 'if-modified-since': changedAt }), { status: 200 }, 'If-Modified-Since is only for reads')
  const undated = await service({ exists: true, etag: 7 })
  t.match(await undated.call('PATCH', { 'if-unmodified-since': earlier }), { status: 200 })
})

t.test('If-None-Match on a change gets 412 and never 304 when it lists the current version [X1]', async (t) => {
  const { call } = await service(version7)
  for (const method of writes) {
    for (const field of ['"7"', 'W/"7"', '"6","7--br"', '*']) {
      const response = await call(method, { 'if-none-match': field })
      t.match(response, {
        status: 412,
        message: /already exists in a version that If-None-Match excludes/,
        headers: { etag: /^"7~[\w-]{11}"$/ },
        received: []
      })
    }
    t.match(
      await call(method, { 'if-none-match': '7' }),
      { status: 412, message: /not a valid list/, received: [] },
      'a condition that cannot be parsed'
    )
    t.match(await call(method, { 'if-match': '"7"', 'if-none-match': '"7"' }), { status: 412 }, 'both conditions must be fulfilled')
  }
})

t.test('a missing resource is 404 for a change and 412 for a PUT, which would create it [X1]', async (t) => {
  for (const found of [{ exists: false }, later({ exists: false })]) {
    const { call } = await service(found)
    for (const method of ['POST', 'PATCH', 'DELETE'] as const) {
      for (const headers of [{ 'if-match': '"7"' }, { 'if-match': '*' }, { 'if-match': 'x' }, { 'if-none-match': '"7"' }])
        t.match(await call(method, headers), { status: 404, received: [], headers: { etag: undefined } })
      t.match(
        await call(method, { 'if-unmodified-since': earlier }),
        { status: 200, received: [{}] },
        'the handler reports the missing resource'
      )
    }
    for (const field of ['"7"', '*', 'x'])
      t.match(await call('PUT', { 'if-match': field }), { status: 412, received: [], headers: { etag: undefined } })
  }
})

t.test('PUT with If-None-Match: * creates and does not replace [M4]', async (t) => {
  const absent = await service({ exists: false }, { requireIfMatch: true })
  t.strictSame((await absent.call('PUT', { 'if-none-match': '*' })).received, [{ createOnly: true, versions: null }])
  const there = await service(version7, { requireIfMatch: true })
  t.match(await there.call('PUT', { 'if-none-match': '*' }), { status: 412, received: [] })
})

t.test('returns 428 for a change without a required If-Match, and the change is not made [X1]', async (t) => {
  const { call } = await service(version7, { requireIfMatch: true })
  for (const method of writes) {
    for (const headers of [{}, { 'if-unmodified-since': changedAt }, { 'if-none-match': '"6"' }]) {
      const response = await call(method, headers)
      t.match(response, { status: 428, message: /send its ETag in If-Match/, headers: { 'cache-control': 'no-store' }, received: [] })
    }
    t.match(await call(method, { 'if-match': '"7"' }), { status: 200 })
  }
  t.match(await call('PATCH', { 'if-none-match': '*' }), { status: 428 }, 'only a PUT can create')
})

t.test('without a validator, a condition that cannot be checked is refused and not ignored', async (t) => {
  const { call } = await service(undefined)
  for (const method of writes) {
    for (const headers of [{ 'if-match': '"7"' }, { 'if-match': '*' }, { 'if-none-match': '*' }])
      t.match(await call(method, headers), { status: 412, message: /does not support conditional changes/, received: [] })
    t.match(await call(method, { 'if-unmodified-since': earlier }), { status: 200, received: [{ versions: null }] })
  }
  const dated = await service({ exists: true, lastModified: changed })
  for (const headers of [{ 'if-match': '"7"' }, { 'if-none-match': '"7"' }])
    t.match(await dated.call('PATCH', headers), { status: 412, message: /does not support conditional changes/, received: [] })
  t.match(await dated.call('PATCH', { 'if-match': '*' }), { status: 200, received: [{ versions: '*' }] })
  t.match(await dated.call('PATCH', { 'if-unmodified-since': changedAt }), { status: 200, received: [{ versions: null }] })
})

t.test('with ifMatch opaque, a tag that a proxy made weak also protects a change [O1]', async (t) => {
  const { call } = await service(version7, { ifMatch: 'opaque' })
  t.match(await call('PATCH', { 'if-match': 'W/"7"' }), { status: 200, received: [{ versions: ['7'] }] })
  t.match(await call('PATCH', { 'if-match': 'W/"6"' }), { status: 412, received: [] })
})

t.test('a tag of any representation protects a change, and the write gets the version alone [O1]', async (t) => {
  const { call } = await service(version7, { revision: 'r2' })
  t.match(await call('PATCH', { 'if-match': '"7~AAAAAAAAAAA"' }), { status: 200, received: [{ versions: ['7'] }] })
  t.match(await call('PATCH', { 'if-match': '"6~AAAAAAAAAAA"' }), { status: 412, headers: { etag: /^"7~[\w-]{11}"$/ } })
})

t.test('the response to a change has the tag of the new version, except for PUT, and never Last-Modified', async (t) => {
  const { call } = await service(version7)
  for (const method of ['POST', 'PATCH', 'DELETE'] as const)
    t.match((await call(method, {})).headers, { etag: /^"8~[\w-]{11}"$/, 'last-modified': undefined, 'cache-control': 'no-store' })
  t.match((await call('PUT', {})).headers, { etag: undefined, 'last-modified': undefined })
})

t.test('a write that finds another version throws 412, with that version if the caller is allowed to see it [O1]', async (t) => {
  const app = Fastify()
  await app.register(conditionalCaching, { revision: 'r2' })
  app.patch('/known', async ({ preconditions }) => {
    throw preconditions.failed(9)
  })
  app.patch('/unknown', async ({ preconditions }) => {
    throw preconditions.failed()
  })
  t.match(await app.inject({ method: 'PATCH', url: '/known' }), {
    statusCode: 412,
    headers: { etag: /^"9~[\w-]{11}"$/, 'cache-control': 'no-store' }
  })
  t.match(await app.inject({ method: 'PATCH', url: '/unknown' }), { statusCode: 412, headers: { etag: undefined } })
})

// All ways in which a Fastify handler can respond, with an asynchronous and a synchronous check.
const handlers: Readonly<Record<string, (this: FastifyInstance, request: FastifyRequest, reply: FastifyReply) => unknown>> = {
  async 'returns from an async function'() {
    return { sum: this.hasDecorator('mark') }
  },
  'returns a value'() {
    return { sum: this.hasDecorator('mark') }
  },
  'sends immediately'(_request, reply) {
    reply.send({ sum: this.hasDecorator('mark') })
  },
  'sends later, from a callback'(_request, reply) {
    setImmediate(() => reply.send({ sum: this.hasDecorator('mark') }))
  },
  async 'sends and returns the reply'(_request, reply) {
    reply.send({ sum: this.hasDecorator('mark') })
    return reply
  },
  async 'sends later and returns the reply'(_request, reply) {
    setImmediate(() => reply.send({ sum: this.hasDecorator('mark') }))
    return reply
  },
  'takes the response over'(_request, reply) {
    reply.hijack()
    reply.raw.end(JSON.stringify({ sum: this.hasDecorator('mark') }))
  },
  async 'takes the response over, async'(_request, reply) {
    reply.hijack()
    reply.raw.end(JSON.stringify({ sum: this.hasDecorator('mark') }))
  }
}
for (const [name, handler] of Object.entries(handlers)) {
  t.test(`a handler that ${name} responds as without the check, and has its own this`, async (t) => {
    const problems: string[] = []
    const stream = { write: (line: string) => void problems.push(line) }
    const app = Fastify({ logger: { level: 'warn', stream } })
    await app.register(conditionalCaching)
    await app.register(async (child) => {
      child.decorate('mark', true)
      const found = { now: () => version7, later: later(version7) }
      for (const [kind, validator] of Object.entries(found)) {
        const route = { method: 'PATCH' as HTTPMethods, url: `/${kind}`, config: { validator }, handler } as unknown as RouteOptions
        child.route(route)
      }
    })
    for (const url of ['/now', '/later']) {
      const response = await app.inject({ method: 'PATCH', url, headers: { 'if-match': '"7"' } })
      t.strictSame([response.statusCode, response.json()], [200, { sum: true }], url)
    }
    t.strictSame(problems, [])
  })
}

t.test('a handler that throws or rejects gets the same response as without the check', async (t) => {
  const app = Fastify()
  await app.register(conditionalCaching)
  const failing = {
    throws: () => {
      throw Object.assign(new Error('sold out'), { statusCode: 409 })
    },
    rejects: async () => {
      throw Object.assign(new Error('sold out'), { statusCode: 409 })
    }
  }
  for (const [name, handler] of Object.entries(failing)) {
    app.patch(`/${name}/now`, { config: { validator: () => version7 } }, handler)
    app.patch(`/${name}/later`, { config: { validator: later(version7) } }, handler)
  }
  for (const url of ['/throws/now', '/throws/later', '/rejects/now', '/rejects/later'])
    t.equal((await app.inject({ method: 'PATCH', url, headers: { 'if-match': '"7"' } })).statusCode, 409)
})

t.test('a change is not made when its request timed out while the validator ran', async (t) => {
  const app = Fastify({ handlerTimeout: 20 })
  await app.register(conditionalCaching)
  const { promise, resolve } = Promise.withResolvers<Validator>()
  app.patch('/', { config: { validator: () => promise } }, async () => t.fail('the handler runs'))
  t.equal((await app.inject({ method: 'PATCH', url: '/', headers: { 'if-match': '"7"' } })).statusCode, 503)
  resolve(version7)
  await app.close()
})

t.test('a wrapper of the handler that is registered later runs before the validator, and so does a preHandler hook', async (t) => {
  const app = Fastify()
  await app.register(conditionalCaching)
  const order: string[] = []
  app.addHook('onRoute', (route) => {
    const inner = route.handler
    route.preHandler = [async () => void order.push('before')]
    route.handler = async function gate(request, reply) {
      order.push('gate')
      // A replay of a stored response, to which the current version does not apply.
      return request.headers['idempotency-key'] === 'known' ? { replayed: true } : inner.call(this, request, reply)
    }
  })
  const validator = () => {
    order.push('validator')
    return version7
  }
  app.post('/', { config: { validator } }, async () => ({ replayed: false }))
  const stale = { 'if-match': '"6"' }
  t.equal((await app.inject({ method: 'POST', url: '/', headers: stale })).statusCode, 412)
  t.strictSame(order.splice(0), ['before', 'gate', 'validator'])
  const replay = await app.inject({ method: 'POST', url: '/', headers: { ...stale, 'idempotency-key': 'known' } })
  t.match(replay.json(), { replayed: true })
  t.strictSame(order, ['before', 'gate'])
})
