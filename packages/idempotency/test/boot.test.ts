import { mock } from 'node:test'
import idempotency, { type IdempotencyOptions, lints, memoryIdempotencyStore } from '@concordat/idempotency'
import { contributions } from '@concordat/plugin-kit/wiring'
import { inEnvironment } from '@concordat/test-harness/environment'
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

t.test('refuses invalid options with an error that names the option', async (t) => {
  const cases: [object, string][] = [
    [{ scope: 'ada' }, 'options.scope must be a function that returns the client, but its type is string.'],
    [{ store: {} }, 'options.store must implement IdempotencyStore, for example memoryIdempotencyStore() or redisIdempotencyStore(redis).'],
    [
      { store: null },
      'options.store must implement IdempotencyStore, for example memoryIdempotencyStore() or redisIdempotencyStore(redis).'
    ],
    [{ leaseSeconds: 0.03 }, 'options.leaseSeconds must be a number from 0.1 to 600, but is 0.03.'],
    [{ maxRunSeconds: 0.5 }, 'options.maxRunSeconds must be an integer from 1 to 86400, but is 0.5.'],
    [{ storeTimeoutSeconds: 0 }, 'options.storeTimeoutSeconds must be a number from 0.001 to 60, but is 0.'],
    [{ lifetimeSeconds: 59 }, 'options.lifetimeSeconds must be an integer from 60 to 34560000, but is 59.'],
    [{ waitSeconds: 60.001 }, 'options.waitSeconds must be a number from 0 to 60, but is 60.001.'],
    [{ serverErrors: 'drop' }, 'options.serverErrors must be "store" or "release", but is "drop".'],
    [{ whenOutcomeUnknown: 'guess' }, 'options.whenOutcomeUnknown must be "runAgain" or "refuse", but is "guess".'],
    [{ maxStoredBytes: 1e9 }, 'options.maxStoredBytes must be an integer from 0 to 16777216, but is 1000000000.'],
    [{ maxClientBytes: 0 }, 'options.maxClientBytes must be an integer from 1 to 1099511627776, but is 0.'],
    [
      { maxClientBytesFor: 1000 },
      'options.maxClientBytesFor must be a function that returns the bytes of the client, but its type is number.'
    ],
    [
      { replayedFields: ['set-cookie'] },
      'options.replayedFields contains "set-cookie", which cannot be replayed. Use lower-case names of response headers that do not depend on the connection.'
    ],
    [
      { replayedFields: ['X-Total'] },
      'options.replayedFields contains "X-Total", which cannot be replayed. Use lower-case names of response headers that do not depend on the connection.'
    ]
  ]
  for (const [options, line] of cases) await t.rejects(boot(options), { name: 'TypeError', message: `idempotency: ${line}` })
})

t.test('refuses an invalid config of a route with an error that names the route', async (t) => {
  const choices = 'config.idempotency must be "required", "accepted", "off" or an object { key, … }, but is'
  const cases: [unknown, RouteOptions['method'], string][] = [
    [true, 'POST', `POST /orders: ${choices} true.`],
    ['always', 'POST', `POST /orders: ${choices} "always".`],
    [{ waitSeconds: 5 }, 'POST', `POST /orders: ${choices} {"waitSeconds":5}.`],
    [null, 'POST', `POST /orders: ${choices} null.`],
    [
      { key: 'required', lifetime: 5 },
      'POST',
      'POST /orders: config.idempotency.lifetime is unknown. Use only key, lifetimeSeconds, waitSeconds, serverErrors, whenOutcomeUnknown, maxStoredBytes, whenStoreFails, comparedBody.'
    ],
    [
      'accepted',
      ['POST', 'GET'],
      'POST,GET /orders: config.idempotency is allowed only on POST, PATCH, PUT, DELETE, because GET changes nothing. Remove it.'
    ],
    [
      { key: 'required', comparedBody: 'body' },
      'POST',
      'POST /orders: config.idempotency.comparedBody must be a function that takes the request and returns the value to compare, but its type is string.'
    ],
    [
      { key: 'required', whenStoreFails: 'bypass' },
      'POST',
      'POST /orders: config.idempotency.whenStoreFails must be "refuse" or "dangerouslyBypass", but is "bypass".'
    ],
    [
      { key: 'required', lifetimeSeconds: 1 },
      'POST',
      'POST /orders: config.idempotency.lifetimeSeconds must be an integer from 60 to 34560000, but is 1.'
    ]
  ]
  for (const [config, method, line] of cases) {
    await t.rejects(boot({}, config as 'off', method), { name: 'TypeError', message: `idempotency: ${line}` }, line)
  }
})

t.test('row 6: requires scope if a route accepts keys; a service without such routes starts', async (t) => {
  await t.rejects(boot({ scope: undefined }), {
    message:
      "idempotency: options.scope is required because POST /orders accepts keys. Set it to a function that returns the client's id, or register authentication."
  })
  await boot({ scope: undefined }, 'off')
})

t.test('refuses a store that is not shared in production, unless dangerouslyUnshared is set', async (t) => {
  inEnvironment(t, 'production')
  await t.rejects(boot({}), {
    message:
      'idempotency: options.store must be shared by all processes in production, because a retry that reaches another process would be executed again. Set a shared store, or set options.dangerouslyUnshared if there is only one process.'
  })
  await boot({}, 'off')
  await boot({ dangerouslyUnshared: true })
  await boot({ store: { ...memoryIdempotencyStore(), guarantees: { shared: true, transactional: false } } })
})

t.test('the service does not start when the plugin is registered twice or after compression', async (t) => {
  const twice = Fastify()
  await twice.register(idempotency)
  await t.rejects(async () => twice.register(idempotency), {
    message: 'idempotency: the plugin is already registered. Register it only once.'
  })
  const after = Fastify()
  await after.register(compress)
  await t.rejects(async () => after.register(idempotency), {
    message:
      'idempotency: @fastify/compress is already registered and would compress responses before they are stored. Register it after idempotency.'
  })
})

t.test('works in a child context of a service that compresses, on routes that are not compressed', async (t) => {
  const app = Fastify()
  await app.register(compress, { threshold: 0 })
  app.get('/products', async () => ({ name: 'tea' }))
  const other = Fastify()
  await other.register(compress)
  await other.register(async (refunds) => {
    await refunds.register(idempotency, { scope })
    refunds.post('/refunds', { config: { idempotency: 'required' } }, async () => 'x')
  })
  await t.rejects(async () => other.ready(), {
    message:
      'idempotency: @fastify/compress is registered before idempotency and would compress the responses of POST /refunds before they are stored. Set compress: false on the route.'
  })
  await app.register(async (payments) => {
    await payments.register(idempotency, { scope })
    payments.post('/payments', { compress: false, config: { idempotency: 'required' } }, async () => ({ id: 1 }))
  })
  const headers = { 'accept-encoding': 'gzip', 'idempotency-key': '"a"' }
  t.equal((await app.inject({ url: '/products', headers })).headers['content-encoding'], 'gzip')
  const [first, retry] = [
    await app.inject({ method: 'POST', url: '/payments', headers }),
    await app.inject({ method: 'POST', url: '/payments', headers })
  ]
  t.strictSame([first.body, retry.body, retry.headers['idempotency-replayed']], ['{"id":1}', '{"id":1}', 'true'])
})

t.test(
  'the service does not start when another plugin, such as transactions or preconditions, wraps the handler outside idempotency',
  async (t) => {
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
      message:
        'idempotency: the handler of POST /orders is also wrapped by a plugin that is registered after idempotency. Register that plugin before idempotency.'
    })
  }
)

t.test('a route that was registered before the plugin responds with 500 that says why, and runs nothing', async (t) => {
  const app = Fastify()
  let runs = 0
  app.post('/orders', { config: { idempotency: 'accepted' } }, async () => ({ run: (runs += 1) }))
  app.post('/notes', { config: { idempotency: 'off' } }, async () => ({}))
  await app.register(idempotency, { scope })
  const response = await app.inject({ method: 'POST', url: '/orders', headers: { 'idempotency-key': 'k' } })
  t.match(response.json(), {
    statusCode: 500,
    message: 'idempotency: POST /orders was registered before the plugin. Await the registration of the plugin, then register the route.'
  })
  t.equal((await app.inject({ method: 'POST', url: '/notes' })).statusCode, 200)
  t.equal(runs, 0)
})

t.test('contributes the errors that a route can return for its description [I1]', async (t) => {
  const app = Fastify()
  await app.register(idempotency, { scope })
  const [partsOf] = contributions(app, 'operations')
  const errorsWith = (key: unknown) => partsOf?.({ method: 'POST', url: '/a', config: { idempotency: key } as never }).errors
  t.ok(errorsWith('required')?.includes('IDEMPOTENCY_KEY_REQUIRED'))
  t.ok(errorsWith({ key: 'accepted', lifetimeSeconds: 3600 })?.includes('IDEMPOTENCY_KEY_REUSED'))
  t.notOk(errorsWith('accepted')?.includes('IDEMPOTENCY_KEY_REQUIRED'))
  t.equal(errorsWith('off'), undefined)
})

t.test('the lint finds POST and PATCH routes that do not declare whether they accept keys [I1]', async (t) => {
  const [lint] = lints
  t.equal(lint?.id, 'I1')
  t.match(lint?.check({ method: 'POST' }), /does not say whether it accepts idempotency keys/)
  t.match(lint?.check({ method: ['GET', 'PATCH'], config: {} }), /does not say/)
  t.equal(lint?.check({ method: 'GET' }), undefined)
  t.equal(lint?.check({ method: 'POST', config: { idempotency: 'off' } }), undefined)
})

t.test(
  'logs the problems that the store reports about its set-up at boot, and starts the service even if the store is down at that time',
  async (t) => {
    const lines: string[] = []
    const stream = { write: (line: string) => void lines.push(line) }
    for (const check of [async () => ['It keeps nothing.'], () => Promise.reject(new Error('down'))]) {
      const app = Fastify({ logger: { stream } })
      await app.register(idempotency, { store: { ...memoryIdempotencyStore(), check } })
      await app.ready()
      await app.close()
    }
    t.match(lines.join(''), /idempotency: It keeps nothing\..*idempotency: the store is not available yet/s)
  }
)

t.test(
  'sweeps the store while the service runs until no expired records are left, also after it was down, and closes it with the service',
  async (t) => {
    const calls: string[] = []
    const left = [0, 1000, 1000, 3]
    const swept = Promise.withResolvers<void>()
    const store = {
      ...memoryIdempotencyStore(),
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
    await app.register(idempotency, { store })
    await app.ready()
    mock.timers.tick(60_000)
    await turns()
    t.strictSame(calls, ['sweep 1000'])
    mock.timers.tick(60_000)
    await swept.promise
    await app.close()
    t.strictSame(calls, [...Array<string>(4).fill('sweep 1000'), 'close'])
  }
)
