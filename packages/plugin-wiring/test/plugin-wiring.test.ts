import {
  contractOf,
  earlierRoutes,
  isOutside,
  isRoot,
  publish,
  publishErrors,
  publishedErrors,
  requireNoEarlierRoutes
} from '@concordat/plugin-wiring'
import Fastify, { type FastifyInstance } from 'fastify'
import t from 'tap'

const handler = async () => 'x'
const route = { method: 'GET', url: '/things' } as const

async function childOf(app: FastifyInstance) {
  const children: FastifyInstance[] = []
  await app.register(async (child) => void children.push(child), { prefix: '/child' })
  // In an object, because an instance is thenable.
  return { child: children[0] as FastifyInstance }
}

t.test('a contract is found on its instance and in children, and the nearest wins', async (t) => {
  const app = Fastify()
  t.equal(contractOf(app, 'belongsToApi'), undefined)
  publish(app, { belongsToApi: () => false })
  publish(app, { allowedMethods: () => ['GET'] })
  const { child } = await childOf(app)
  t.equal(isOutside(child, route), true)
  t.strictSame(contractOf(child, 'allowedMethods')?.({} as never), ['GET'])
  publish(child, { belongsToApi: () => true })
  t.equal(isOutside(child, route), false)
  t.equal(isOutside(app, route), true)
  t.strictSame(contractOf(child, 'allowedMethods')?.({} as never), ['GET'], 'of the instance around it')
})

t.test('without versions, no route is outside', async (t) => {
  t.equal(isOutside(Fastify(), route), false)
})

t.test('the errors of all contexts are in one list, which grows', async (t) => {
  const app = Fastify()
  const { child } = await childOf(app)
  const one = {}
  publishErrors(child, one)
  const lists = publishedErrors(app)
  publishErrors(app, one)
  const two = {}
  publishErrors(app, two)
  t.strictSame([lists.length, lists[0] === one, lists[1] === two], [2, true, true])
  t.strictSame([isRoot(app), isRoot(child)], [true, false])
})

t.test('lists every route that was registered before, with its whole path', async (t) => {
  const app = Fastify()
  t.strictSame(earlierRoutes(app), [])
  app.get('/', handler)
  app.get('/files/*', handler)
  app.get('/fields/:id', { constraints: { host: 'a.example' } }, handler)
  app.post('/fields/:id(^\\d+$)/actions', handler)
  app.options('*', handler)
  app.get('/say::hi', handler)
  const { child } = await childOf(app)
  child.delete('/things/:id', handler)
  const paths = earlierRoutes(app).map(({ method, url }) => `${method} ${url}`)
  t.strictSame(paths.toSorted(), [
    'DELETE /child/things/:id',
    'GET /',
    'GET /fields/:id',
    'GET /files/*',
    'GET /say:hi',
    'HEAD /',
    'HEAD /fields/:id',
    'HEAD /files/*',
    'HEAD /say:hi',
    'OPTIONS *',
    'POST /fields/:id(^\\d+$)/actions'
  ])
})

async function start(url: string, prefix: string, hasVersions = false) {
  const app = Fastify()
  app.get(url, handler)
  if (hasVersions) publish(app, { belongsToApi: () => false })
  await app.register(async (child) => requireNoEarlierRoutes(child, 'a-plugin'), { prefix })
  await app.ready()
}

t.test('an earlier route below the prefix stops the start, unless routes can be outside the API', async (t) => {
  await t.rejects(start('/v2/things', '/v2'), { message: /^a-plugin: GET \/v2\/things was registered before the plugin/ })
  await start('/v1/things', '/v2')
  await start('/v20/things', '/v2')
  await start('/v2/things', '/v2', true)
})
