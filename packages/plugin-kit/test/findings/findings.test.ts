import { checkAtStart, onEachRoute, readEachRoute, reportBrokenRules } from '@concordat/plugin-kit/findings'
import Fastify, { type FastifyInstance, type RouteOptions } from 'fastify'
import t from 'tap'

const handler = async () => 'x'
const nameOf = ({ method, url }: RouteOptions) => `${String(method)} ${url}`

/** A service with the lint of a package: paths must be short, and a route must have a schema. */
function service() {
  const app = Fastify()
  onEachRoute(app, (route) => {
    if (route.schema === undefined) throw new TypeError(`shapes: ${nameOf(route)} has no schema. Add it.`)
  })
  onEachRoute(app, function (route) {
    const broken = [
      { id: 'L1', is: route.url.length > 8 },
      { id: 'L2', is: route.url.includes('x') }
    ].filter(({ is }) => is)
    reportBrokenRules(
      this,
      route,
      broken,
      (left) => new Error(`paths: ${nameOf(route)} breaks ${left.map(({ id }) => id).join(', ')}. Shorten it.`)
    )
  })
  return app
}

async function messageOf(app: FastifyInstance) {
  try {
    await app.ready()
    return ''
  } catch (error) {
    return (error as Error).message
  }
}

function waive(app: FastifyInstance) {
  return app.addHook('onRoute', (route) => {
    if (route.method === 'GET') route.config = { ...route.config, waivers: { L1: 'It is old.', L2: 'It is old.' } }
  })
}

function add(app: FastifyInstance) {
  return app.get('/exact-path', { schema: {} }, handler)
}

t.test('a single finding is the error itself, with the stack of the line that adds the route', async (t) => {
  const app = service()
  app.get('/a', handler)
  await t.rejects(async () => app.ready(), {
    name: 'TypeError',
    message: 'shapes: GET /a has no schema. Add it.',
    stack: /findings\.test\.ts/
  })
})

t.test('all findings about all routes are one error, in the order of the routes, each once', async (t) => {
  const app = service()
  app.get('/long-path', handler)
  app.register(async (child) => child.post('/b', handler), { prefix: '/x' })
  app.get('/a', { schema: {} }, handler)
  checkAtStart(app, () => {
    throw new Error('order: the plugins are in a wrong order.')
  })
  t.equal(
    await messageOf(app),
    `The service does not start: 5 findings.
  shapes: GET /long-path has no schema. Add it.
  paths: GET /long-path breaks L1. Shorten it.
  order: the plugins are in a wrong order.
  shapes: POST /x/b has no schema. Add it.
  paths: POST /x/b breaks L2. Shorten it.
To waive a rule for the whole service until a day, see the option waivers of the preset, of versioning or of openapi.
To waive the rules for these routes, write the reason, and add this hook before the routes:

const reason = ''
const waivers = {
  "GET /long-path": { L1: reason },
  "POST /x/b": { L2: reason }
}
app.addHook('onRoute', (route) => {
  for (const [name, waived] of Object.entries(waivers))
    if (name === \`\${route.method} \${route.url}\`) route.config = { ...route.config, waivers: { ...waived, ...route.config?.waivers } }
})`
  )
})

t.test('a finding without a rule has no waivers, and a line without its route gets it', async (t) => {
  const app = Fastify()
  onEachRoute(app, () => {
    throw new Error('limits: the limit is too high.')
  })
  onEachRoute(app, (route) => {
    throw new Error(`limits: ${nameOf(route)} has no limit.`)
  })
  app.post('/a', handler)
  t.equal(
    await messageOf(app),
    'The service does not start: 2 findings.\n  limits: the limit is too high. (POST /a)\n  limits: POST /a has no limit.'
  )
})

t.test('a hook can add waivers before and after the plugins, on the server and in a child context, also for the HEAD route', async (t) => {
  t.equal(await messageOf(add(service())), 'paths: GET /exact-path breaks L1, L2. Shorten it.')
  t.equal(await messageOf(add(waive(service()))), '')
  t.equal(await messageOf(service().register(async (child) => void add(waive(child)))), '')
})

t.test('a fault of several parts is several findings', async (t) => {
  const app = Fastify()
  onEachRoute(app, (route) => {
    throw new AggregateError([1, 2].map((part) => new Error(`parts: ${nameOf(route)} part ${part} is wrong.`)))
  })
  app.get('/a', handler)
  t.equal(
    await messageOf(app),
    'The service does not start: 2 findings.\n  parts: GET /a part 1 is wrong.\n  parts: GET /a part 2 is wrong.'
  )
})

t.test('the list is bounded', async (t) => {
  const app = service()
  for (let index = 0; index < 150; index += 1) app.post(`/long-path/${index}`, handler)
  const lines = (await messageOf(app)).split('\n')
  t.equal(lines[0], 'The service does not start: 300 findings.')
  t.equal(lines[201], '  … and 100 more, which are listed when these are fixed.')
  t.equal(lines.filter((line) => line.includes(': reason }')).length, 100)
})

t.test('a fault that makes others consequences hides them, and Fastify does not report it first', async (t) => {
  const app = Fastify()
  readEachRoute(app, (route) => {
    if (route.schema?.body === 'yaml') throw new Error(`reader: ${nameOf(route)} has a schema in YAML. Write JSON Schema.`)
  })
  onEachRoute(app, (route) => {
    throw new Error(`later: ${nameOf(route)} has a fault.`)
  })
  app.post('/yaml', { schema: { body: 'yaml' } }, handler)
  app.get('/json', { schema: { response: { 200: { $ref: 'Missing#' } } } }, handler)
  t.equal(
    await messageOf(app),
    'The service does not start: 2 findings.\n  reader: POST /yaml has a schema in YAML. Write JSON Schema.\n  later: GET /json has a fault.'
  )
})

t.test('the findings come before the onReady hooks of plugins, which begin their work there', async (t) => {
  const app = Fastify()
  onEachRoute(app, () => {
    throw new Error('a finding')
  })
  let hasBegun = false
  app.addHook('onReady', async () => {
    hasBegun = true
  })
  app.get('/a', handler)
  t.equal(await messageOf(app), 'a finding')
  t.notOk(hasBegun)
})
