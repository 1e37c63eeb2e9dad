// The steps of several plugins behave as hooks, whether they are hooks of their own or one hook.
import { Readable } from 'node:stream'
import { chain, composeSteps, planStep, type RequestStep, type Stage, stepHook } from '@concordat/plugin-kit/steps'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import t from 'tap'

const stages = ['onRequest', 'preParsing', 'preValidation', 'preHandler', 'onSend'] as const

type Seen = string[]
type Step = (request: FastifyRequest, reply: FastifyReply, route: never, payload: unknown) => unknown

const conflict = () => Object.assign(new Error('conflict'), { statusCode: 409 })

// What a step can do, each also after waiting.
const outcomes: Readonly<Record<string, (stage: Stage) => Step>> = {
  continue: () => () => undefined,
  wait: () => async () => undefined,
  throw: () => () => {
    throw conflict()
  },
  reject: () => async () => {
    throw conflict()
  },
  fail: (stage) => () => {
    if (stage === 'onSend') throw conflict()
    return conflict()
  },
  failLater: (stage) => async () => {
    if (stage === 'onSend') throw conflict()
    return conflict()
  },
  send: (stage) => (_request, reply) => (stage === 'onSend' ? 'replaced' : reply.code(202).send('sent')),
  sendLater: (stage) => async (_request, reply) => (stage === 'onSend' ? 'replaced later' : reply.code(202).send('sent later')),
  sendAside: (stage) => async (_request, reply) => {
    // Another part of the service responds while the step waits.
    if (stage !== 'onSend') await reply.code(203).send('aside')
  },
  hijack: (stage) => (_request, reply) => {
    if (stage === 'onSend') return undefined
    reply.hijack()
    reply.raw.end('raw')
    return reply
  },
  empty: (stage) => () => (stage === 'onSend' ? null : undefined),
  emptyLater: (stage) => async () => (stage === 'onSend' ? null : undefined)
}

function foreignHook(app: FastifyInstance, stage: Stage, name: string, seen: Seen) {
  const note = (reply: FastifyReply, payload?: unknown) =>
    void seen.push(`${name}: ${String(reply.getHeader('x-steps'))} ${typeof payload === 'string' ? payload : ''}`)
  if (stage === 'onSend') app.addHook(stage, async (_request, reply, payload) => note(reply, payload))
  else if (stage === 'preParsing') app.addHook(stage, async (_request, reply) => note(reply))
  else app.addHook(stage, async (_request, reply) => note(reply))
}

async function behaviour(stage: Stage, place: number, outcome: string, isComposed: boolean) {
  const app = Fastify()
  const seen: Seen = []
  foreignHook(app, stage, 'before', seen)
  const steps = isComposed ? composeSteps(app) : undefined
  const acting = (outcomes[outcome] as (stage: Stage) => Step)(stage)
  for (const at of [0, 1, 2]) {
    const step = (...input: Parameters<Step>) => {
      const [, reply, , payload] = input
      seen.push(`step ${at} ${typeof payload === 'string' ? payload : ''}`)
      reply.header('x-steps', `${String(reply.getHeader('x-steps') ?? '')}${at}`)
      return at === place ? acting(...input) : undefined
    }
    planStep(app, stage, () => step as never)
  }
  steps?.end()
  foreignHook(app, stage, 'after', seen)
  app.addHook('onResponse', async (_request, { statusCode }) => void seen.push(`response ${statusCode}`))
  app.post('/things', async () => 'handled')
  const { statusCode, headers, body } = await app.inject({ method: 'POST', url: '/things', payload: { a: 1 } })
  await app.close()
  return { seen, statusCode, steps: headers['x-steps'], body }
}

for (const stage of stages)
  t.test(`the steps of ${stage} do as one hook what they do as hooks of their own`, async (t) => {
    for (const outcome of Object.keys(outcomes))
      for (const place of [0, 1, 2]) {
        const [alone, composed] = [await behaviour(stage, place, outcome, false), await behaviour(stage, place, outcome, true)]
        t.strictSame(composed, alone, `${outcome} at ${place}`)
        t.ok(alone.seen[0]?.startsWith('before'), 'a hook that was added before them runs before them')
      }
  })

t.test('a step fails, ends or continues a request as its result says', async (t) => {
  t.match(await behaviour('preHandler', 1, 'continue', true), { statusCode: 200, body: 'handled', steps: '012' })
  t.match(await behaviour('preHandler', 1, 'failLater', true), { statusCode: 409, steps: '01' })
  t.match(await behaviour('preHandler', 1, 'send', true), { statusCode: 202, body: 'sent', steps: '01' })
  t.match(await behaviour('preHandler', 1, 'hijack', true), { body: 'raw' })
  t.match(
    (await behaviour('preHandler', 1, 'continue', true)).seen.at(-2),
    /^after: 012/,
    'a hook that was added after them sees their headers'
  )
})

t.test('a step of preParsing replaces the body for the steps after it', async (t) => {
  for (const isComposed of [true, false]) {
    const app = Fastify()
    const steps = isComposed ? composeSteps(app) : undefined
    planStep(app, 'preParsing', () => () => Readable.from(['{"a":2}']))
    planStep(app, 'preParsing', () => async (_request, _reply, _route, body) => {
      if (!body.readable) throw new Error('The body is gone.')
    })
    planStep(app, 'preParsing', () => () => undefined)
    steps?.end()
    app.post('/things', { config: {} }, async ({ body }) => body)
    const response = await app.inject({
      method: 'POST',
      url: '/things',
      payload: '{"a":1}',
      headers: { 'content-type': 'application/json' }
    })
    t.strictSame(response.json(), { a: 2 })
  }
})

const add =
  (name: string): RequestStep =>
  (_request, reply) =>
    void reply.header('x-ran', [reply.getHeader('x-ran') ?? [], name].flat().join())

t.test('a step is planned once for each route, and left out on routes on which it has no effect', async (t) => {
  for (const isComposed of [true, false]) {
    const app = Fastify()
    const steps = isComposed ? composeSteps(app) : undefined
    const planned: unknown[] = []
    planStep(app, 'onRequest', () => add('all'))
    planStep(app, 'onRequest', ({ config, isUnknown }) => {
      planned.push(config.url)
      return isUnknown || config.method === 'GET' ? undefined : add(`${String(config.method)} ${config.url}`)
    })
    steps?.end()
    app.get('/things', async () => 'x')
    app.post('/things', async () => 'x')
    app.post('/gone', async (_request, reply) => reply.callNotFound())
    for (const _ of [1, 2]) {
      t.equal((await app.inject('/things')).headers['x-ran'], 'all')
      t.equal((await app.inject({ method: 'POST', url: '/things' })).headers['x-ran'], 'all,POST /things')
      t.equal((await app.inject('/unknown')).headers['x-ran'], 'all')
    }
    t.strictSame(planned, ['/things', '/things', undefined])
    t.equal((await app.inject({ method: 'POST', url: '/gone' })).statusCode, 404)
  }
})

t.test('steps know the route of a request, also after it was moved to that of unknown paths', async (t) => {
  const app = Fastify()
  const seen: unknown[] = []
  planStep(
    app,
    'onRequest',
    () =>
      (_request, _reply, { config, isUnknown }) =>
        void seen.push([config.url, isUnknown])
  )
  planStep(
    app,
    'onSend',
    () =>
      (_request, _reply, { config, isUnknown }) =>
        void seen.push([config.url, isUnknown])
  )
  app.get('/things', async (_request, reply) => reply.callNotFound())
  await app.inject('/things')
  t.strictSame(seen, [
    ['/things', false],
    [undefined, true]
  ])
})

t.test('a hook that is added between steps runs between them', async (t) => {
  const app = Fastify()
  const seen: Seen = []
  const steps = composeSteps(app)
  const add = (name: string) => planStep(app, 'onRequest', () => () => void seen.push(name))
  add('one')
  add('two')
  steps.addCollected()
  app.addHook('onRequest', async () => void seen.push('hook'))
  add('three')
  steps.end()
  add('later')
  await app.register(async (child) => {
    planStep(child, 'onRequest', () => () => void seen.push('child'))
    child.get('/things', async () => 'x')
  })
  await app.inject('/things')
  t.strictSame(seen, ['one', 'two', 'hook', 'three', 'later', 'child'])
})

t.test('the steps of a child context are hooks of that context while its parent composes its own', async (t) => {
  const app = Fastify()
  const seen: Seen = []
  const steps = composeSteps(app)
  planStep(app, 'onRequest', () => () => void seen.push('parent'))
  await app.register(async (child) => {
    planStep(child, 'onRequest', () => () => void seen.push('child'))
    child.get('/child', async () => 'x')
  })
  steps.end()
  app.get('/parent', async () => 'x')
  await app.inject('/parent')
  t.strictSame(seen, ['parent'])
})

t.test('the steps of a route that follow one another are one hook, and the hooks of others stay where they are', async (t) => {
  const app = Fastify()
  const seen: Seen = []
  const step = (name: string) => stepHook('onRequest', () => void seen.push(name))
  const hook = async () => void seen.push('hook')
  const onRequest: readonly unknown[] = chain('onRequest', chain('onRequest', step('one'), step('two')), step('three'), hook, undefined, [
    step('four')
  ])
  t.equal(onRequest.length, 3)
  t.strictSame(chain('onRequest', undefined), [])
  app.get('/things', { onRequest: onRequest as never }, async () => 'x')
  await app.inject('/things')
  t.strictSame(seen, ['one', 'two', 'three', 'hook', 'four'])
})

function first() {}
function second() {}
function ofRoute() {}
function last() {}
async function hookOfService() {}

t.test('the debug log of the start has the steps of each route', async (t) => {
  const lines: Record<string, unknown>[] = []
  const logger = { level: 'debug', stream: { write: (line: string) => void lines.push(JSON.parse(line)) } }
  const app = Fastify({ logger })
  const steps = composeSteps(app)
  planStep(app, 'onRequest', () => first)
  planStep(app, 'onRequest', ({ config }) => (config.method === 'GET' ? undefined : second))
  planStep(app, 'onSend', () => last)
  steps.end()
  const own = stepHook('onRequest', ofRoute)
  app.get('/things', { onRequest: [own, hookOfService] as never }, async () => 'x')
  app.post('/things', async () => 'x')
  await app.ready()
  const shown = lines.filter(({ msg }) => msg === 'the steps of a route')
  t.match(
    shown.map(({ method, onRequest, preHandler, onSend }) => [method, onRequest, preHandler, onSend]),
    [
      ['GET', 'first, ofRoute, hookOfService', '', 'last'],
      ['HEAD', 'first, second, ofRoute, hookOfService', '', 'last'],
      ['POST', 'first, second', '', 'last']
    ]
  )
  await app.close()
})
