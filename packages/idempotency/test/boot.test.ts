import { mock } from 'node:test'
import idempotency, { type IdempotencyOptions, idempotencyOf, lints, memoryStore } from '@concordat/idempotency'
import { turns } from '@concordat/test-harness/until'
import compress from '@fastify/compress'
import Fastify, { type FastifyContextConfig, type RouteOptions } from 'fastify'
import t from 'tap'

const scope = () => 'ada'

async function boot(
  options: IdempotencyOptions,
  config: FastifyContextConfig['idempotency'] = 'required',
  method: RouteOptions['method'] = 'POST'
) {
  const app = Fastify()
  await app.register(idempotency, { scope, ...options })
  app.route({ method, url: '/orders', config: { idempotency: config }, handler: async () => ({}) })
  await app.ready()
  await app.close()
}

t.test('options that make no sense are refused with one clear line', async (t) => {
  const cases: [object, string][] = [
    [{ scope: 'ada' }, 'scope is a string. Give a function.'],
    [{ transaction: {} }, 'transaction is a object. Give a function.'],
    [{ store: {} }, 'store is no store. Give one, as memoryStore() or redisIdempotency(redis).'],
    [{ store: null }, 'store is no store. Give one, as memoryStore() or redisIdempotency(redis).'],
    [{ keySyntax: 'bare' }, 'keySyntax is "bare". Give one of both, quoted.'],
    [{ leaseMilliseconds: 30 }, 'leaseMilliseconds is 30. Give a whole number from 100 to 600000.'],
    [{ longestRunSeconds: 0.5 }, 'longestRunSeconds is 0.5. Give a whole number from 1 to 86400.'],
    [{ storeTimeoutMilliseconds: 0 }, 'storeTimeoutMilliseconds is 0. Give a whole number from 1 to 60000.'],
    [{ sweepSeconds: 0 }, 'sweepSeconds is 0. Give a whole number from 1 to 86400.'],
    [{ maximumWaiters: -1 }, 'maximumWaiters is -1. Give a whole number from 0 to 100000.'],
    [{ maximumWaitersPerKey: 1.5 }, 'maximumWaitersPerKey is 1.5. Give a whole number from 0 to 100000.'],
    [{ lifetimeSeconds: 59 }, 'lifetimeSeconds is 59. Give a whole number from 60 to 34560000.'],
    [{ waitMilliseconds: 60_001 }, 'waitMilliseconds is 60001. Give a whole number from 0 to 60000.'],
    [{ serverErrors: 'drop' }, 'serverErrors is "drop". Give one of store, release.'],
    [{ whenOutcomeUnknown: 'guess' }, 'whenOutcomeUnknown is "guess". Give one of runAgain, refuse.'],
    [{ maximumStoredBytes: 1e9 }, 'maximumStoredBytes is 1000000000. Give a whole number from 0 to 16777216.'],
    [
      { replayedFields: ['set-cookie'] },
      'replayedFields has "set-cookie". Give names of header fields that belong to an answer, in lower case.'
    ],
    [{ replayedFields: ['X-Total'] }, 'replayedFields has "X-Total". Give names of header fields that belong to an answer, in lower case.'],
    [{ documentationUrl: '/docs/keys' }, 'documentationUrl is "/docs/keys". Give an absolute URL.']
  ]
  for (const [options, line] of cases) await t.rejects(boot(options), { name: 'TypeError', message: `idempotency: ${line}` })
})

t.test('a route whose config makes no sense is refused with one clear line', async (t) => {
  const choices = 'Give "required", "accepted" or "off", or { key, … }.'
  const cases: [unknown, RouteOptions['method'], string][] = [
    [true, 'POST', `POST /orders has config.idempotency true. ${choices}`],
    ['always', 'POST', `POST /orders has config.idempotency "always". ${choices}`],
    [{ waitMilliseconds: 5 }, 'POST', `POST /orders has config.idempotency {"waitMilliseconds":5}. ${choices}`],
    [null, 'POST', `POST /orders has config.idempotency null. ${choices}`],
    [
      { key: 'required', lifetime: 5 },
      'POST',
      'POST /orders has the unknown member idempotency.lifetime. There are key, lifetimeSeconds, waitMilliseconds, serverErrors, whenOutcomeUnknown, maximumStoredBytes, whenStoreFails, comparedBody.'
    ],
    ['required', 'PUT', 'PUT /orders takes keys, which are for POST and PATCH: PUT may be repeated as it is. Leave them out there.'],
    [
      'accepted',
      ['POST', 'GET'],
      'POST,GET /orders takes keys, which are for POST and PATCH: GET may be repeated as it is. Leave them out there.'
    ],
    [
      { key: 'required', comparedBody: 'body' },
      'POST',
      'POST /orders has an idempotency.comparedBody that is no function. Give one from the request to what is compared.'
    ],
    [
      { key: 'required', whenStoreFails: 'bypass' },
      'POST',
      'POST /orders has idempotency.whenStoreFails is "bypass". Give one of refuse, dangerouslyBypass.'
    ],
    [
      { key: 'required', lifetimeSeconds: 1 },
      'POST',
      'POST /orders has idempotency.lifetimeSeconds is 1. Give a whole number from 60 to 34560000.'
    ]
  ]
  for (const [config, method, line] of cases) {
    await t.rejects(boot({}, config as 'off', method), { name: 'TypeError', message: `idempotency: ${line}` }, line)
  }
})

t.test('row 6: without a scope no route may take keys, and a service without such routes starts', async (t) => {
  await t.rejects(boot({ scope: undefined }), {
    message: 'idempotency: POST /orders takes keys, but whose they are is not known. Give the option scope.'
  })
  await boot({ scope: undefined }, 'off')
})

t.test('in production a store that other processes do not see is refused, unless the service says that there is one process', async (t) => {
  const before = process.env['NODE_ENV']
  t.teardown(() => {
    if (before === undefined) delete process.env['NODE_ENV']
    else process.env['NODE_ENV'] = before
  })
  process.env['NODE_ENV'] = 'production'
  await t.rejects(boot({}), {
    message:
      'idempotency: in production the store must be one that all processes share, or a retry runs again elsewhere. Give one, or set dangerouslyUnshared for a single process.'
  })
  await boot({}, 'off')
  await boot({ dangerouslyUnshared: true })
  await boot({ store: { ...memoryStore(), guarantees: { durable: true, shared: true, transactional: false } } })
})

t.test('it is registered once, and before compression, or the service does not start', async (t) => {
  const twice = Fastify()
  await twice.register(idempotency)
  await t.rejects(async () => twice.register(idempotency), { message: 'idempotency: it is registered here already. Register it once.' })
  const after = Fastify()
  await after.register(compress)
  await t.rejects(async () => after.register(idempotency), {
    message: 'idempotency: @fastify/compress is registered already, and would compress before answers are stored. Register it after.'
  })
})

t.test('a plugin that stands before the keys, as a transaction or a precondition would, keeps the service from starting', async (t) => {
  const app = Fastify()
  await app.register(idempotency, { scope })
  app.addHook('onRoute', (route) => {
    const { handler } = route
    route.handler = function (request, reply) {
      return handler.call(this, request, reply)
    }
  })
  app.post('/orders', { config: { idempotency: 'required' } }, async () => ({}))
  await t.rejects(async () => app.ready(), {
    message: 'idempotency: another plugin stands before the keys of POST /orders. Register idempotency after it.'
  })
})

t.test('a route that was there before the plugin runs nothing, and says why', async (t) => {
  const app = Fastify()
  let runs = 0
  app.post('/orders', { config: { idempotency: 'accepted' } }, async () => ({ run: (runs += 1) }))
  app.post('/notes', { config: { idempotency: 'off' } }, async () => ({}))
  await app.register(idempotency, { scope })
  const answer = await app.inject({ method: 'POST', url: '/orders', headers: { 'idempotency-key': 'k' } })
  t.match(answer.json(), {
    statusCode: 500,
    message: 'idempotency: POST /orders was registered before idempotency. Register it after, and await the plugin.'
  })
  t.equal((await app.inject({ method: 'POST', url: '/notes' })).statusCode, 200)
  t.equal(runs, 0)
})

t.test('what a route promises about keys can be read from its config, for a description [I1]', async (t) => {
  const app = Fastify()
  await app.register(idempotency, { scope, waitMilliseconds: 500 })
  const seen: unknown[] = []
  app.addHook('onRoute', (route) => void seen.push(idempotencyOf(route)))
  app.post('/a', { config: { idempotency: 'required' } }, async () => ({}))
  app.post('/b', { config: { idempotency: { key: 'accepted', lifetimeSeconds: 3600, waitMilliseconds: 0 } } }, async () => ({}))
  app.post('/c', { config: { idempotency: 'off' } }, async () => ({}))
  app.post('/d', async () => ({}))
  t.match(seen, [
    { isRequired: true, lifetimeSeconds: 86_400, waitMilliseconds: 500 },
    { isRequired: false, lifetimeSeconds: 3600, waitMilliseconds: 0 },
    undefined,
    undefined
  ])
})

t.test('the lint finds POST and PATCH routes that do not say whether they take keys [I1]', async (t) => {
  const [lint] = lints
  t.equal(lint?.id, 'I1')
  t.match(lint?.check({ method: 'POST' }), /does not say whether it takes idempotency keys/)
  t.match(lint?.check({ method: ['GET', 'PATCH'], config: {} }), /does not say/)
  t.equal(lint?.check({ method: 'GET' }), undefined)
  t.equal(lint?.check({ method: 'POST', config: { idempotency: 'off' } }), undefined)
})

t.test(
  'what the store finds wrong with its set-up is logged at boot, and a store that is down does not keep the service from starting',
  async (t) => {
    const lines: string[] = []
    const stream = { write: (line: string) => void lines.push(line) }
    for (const check of [async () => ['It keeps nothing.'], () => Promise.reject(new Error('down'))]) {
      const app = Fastify({ logger: { stream } })
      await app.register(idempotency, { store: { ...memoryStore(), check } })
      await app.ready()
      await app.close()
    }
    t.match(lines.join(''), /idempotency: It keeps nothing\..*idempotency: the store does not answer yet/s)
  }
)

t.test(
  'the store is swept while the service runs, until nothing is left to sweep, also after it was down, and closed with the service',
  async (t) => {
    const calls: string[] = []
    const left = [0, 1000, 1000, 3]
    const swept = Promise.withResolvers<void>()
    const store = {
      ...memoryStore(),
      async sweep(maximum: number) {
        calls.push(`sweep ${maximum}`)
        if (left.length === 1) swept.resolve()
        const count = left.shift()
        if (count === 0) throw new Error('down')
        return count ?? 0
      },
      async close() {
        calls.push('close')
      }
    }
    mock.timers.enable({ apis: ['setInterval'] })
    t.teardown(() => mock.timers.reset())
    const app = Fastify()
    await app.register(idempotency, { store, sweepSeconds: 1 })
    await app.ready()
    mock.timers.tick(1000)
    await turns()
    t.strictSame(calls, ['sweep 1000'])
    mock.timers.tick(1000)
    await swept.promise
    await app.close()
    t.strictSame(calls, [...Array<string>(4).fill('sweep 1000'), 'close'])
  }
)
