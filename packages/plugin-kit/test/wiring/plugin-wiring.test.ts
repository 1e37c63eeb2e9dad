import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  contractLater,
  contractOf,
  contribute,
  contributions,
  coverUnknownPaths,
  earlierRoutes,
  forEachServer,
  isClosing,
  isOutside,
  isRoot,
  publish,
  requireNoEarlierRoutes
} from '@concordat/plugin-kit/wiring'
import { localhostAddresses } from '@concordat/test-harness/two-addresses'
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

t.test('a contract that is published later is found later', async (t) => {
  const app = Fastify()
  const allowedMethods = contractLater(app, 'allowedMethods')
  t.equal(allowedMethods(), undefined)
  publish(app, { allowedMethods: () => ['GET'] })
  t.strictSame(allowedMethods()?.({} as never), ['GET'])
})

t.test('the errors of all contexts are in one list, which grows', async (t) => {
  const app = Fastify()
  const { child } = await childOf(app)
  const one = {}
  contribute(child, 'errors', one)
  const lists = contributions(app, 'errors')
  contribute(app, 'errors', one)
  const two = {}
  contribute(app, 'errors', two)
  t.strictSame([lists.length, lists[0] === one, lists[1] === two], [2, true, true])
  t.strictSame([isRoot(app), isRoot(child)], [true, false])
})

t.test('lists every route that was registered before, with its whole path', async (t) => {
  const app = Fastify()
  t.strictSame(earlierRoutes(app), [])
  app.get('/', handler)
  app.get('/files/*', handler)
  app.get('/fields/:id', { constraints: { host: 'a.example' } }, handler)
  app.put('/fields/:id', handler)
  app.post('/fields/:id(^\\d+$)/actions', handler)
  app.options('*', handler)
  app.get('/say::hi', handler)
  await app.register(async (child) => void child.get('/', handler), { prefix: '/prefix' })
  const { child } = await childOf(app)
  child.delete('/things/:id', handler)
  const paths = earlierRoutes(app).map(({ method, url }) => `${method} ${url}`)
  t.strictSame(paths.toSorted(), [
    'DELETE /child/things/:id',
    'GET /',
    'GET /fields/:id',
    'GET /files/*',
    'GET /prefix',
    'GET /prefix/',
    'GET /say::hi',
    'HEAD /',
    'HEAD /fields/:id',
    'HEAD /files/*',
    'HEAD /prefix',
    'HEAD /prefix/',
    'HEAD /say::hi',
    'OPTIONS *',
    'POST /fields/:id(^\\d+$)/actions',
    'PUT /fields/:id'
  ])
})

async function start(url: string, prefix: string, hasVersions = false) {
  const app = Fastify()
  if (prefix === '') app.get(url, handler)
  if (hasVersions) publish(app, { belongsToApi: () => false })
  const plugin = async (child: FastifyInstance) => {
    child.get(`${url}/:id`, { constraints: { host: 'a.example' } }, handler)
    requireNoEarlierRoutes(child, 'a-plugin')
    child.get('/late', handler)
  }
  await (prefix === '' ? requireNoEarlierRoutes(app, 'a-plugin') : app.register(plugin, { prefix }))
  await app.ready()
}

t.test('an earlier route of the same context stops the start, unless routes can be outside the API', async (t) => {
  await t.rejects(start('/things', ''), { message: /^a-plugin: GET \/things was registered before the plugin/ })
  await t.rejects(start('/things', '/v2'), { message: /^a-plugin: GET \/v2\/things\/:id was registered before the plugin/ })
  await start('/things', '/v2', true)
})

t.test('earlier routes of other contexts do not stop the start of a child context, whatever their paths', async (t) => {
  for (const prefix of ['', '/v2']) {
    const app = Fastify()
    app.get('/v2/things', handler)
    app.get('/v20/things', handler)
    const addPlugin = async (child: FastifyInstance) => {
      requireNoEarlierRoutes(child, 'a-plugin')
      child.get(`/things${Math.random()}`, handler)
      child.post('/things', { constraints: { host: `${Math.random()}.example` } }, handler)
      child.get('/failing', { constraints: { host: `${Math.random()}.example` } }, async () => {
        throw new Error('failed')
      })
    }
    await app.register(addPlugin, { prefix })
    await app.register(addPlugin, { prefix })
    await app.register(async (child) => void child.post('/things', handler), { prefix })
    await app.ready()
    t.equal((await app.inject('/v2/things')).statusCode, 200)
  }
})

async function adopt(child: FastifyInstance) {
  child.addHook('onRequest', async (_request, reply) => void reply.header('x-hook', 'ran'))
  coverUnknownPaths(child)
}

t.test('coverUnknownPaths returns whether unknown paths belong to the context', async (t) => {
  const app = Fastify()
  const returns = async (parent: FastifyInstance, prefix: string, expected: boolean) => {
    await parent.register(async (child) => void t.equal(coverUnknownPaths(child), expected, `${parent.prefix} ${prefix}`), { prefix })
  }
  t.equal(coverUnknownPaths(app), true)
  for (const [prefix, expected] of [
    ['', false],
    ['/', false],
    ['/v1', true],
    ['/v1', true],
    ['/v1/', true]
  ] as const)
    await returns(app, prefix, expected)
  await app.register(
    async (v2) => {
      await returns(v2, '', false)
      await returns(v2, '/tasks', true)
    },
    { prefix: '/v2' }
  )
})

t.test('in a context with a prefix of its own, the hooks of the context apply to unknown paths', async (t) => {
  const app = Fastify()
  app.setNotFoundHandler((_request, reply) => reply.code(404).send('of the service'))
  coverUnknownPaths(app)
  await app.register(adopt)
  await app.register(adopt, { prefix: '/' })
  await app.register(adopt, { prefix: '/v1' })
  await app.register(adopt, { prefix: '/v1/' })
  await app.register(
    async (v2) => {
      v2.setNotFoundHandler((_request, reply) => reply.code(404).send('of v2'))
      await v2.register(adopt)
      coverUnknownPaths(v2)
    },
    { prefix: '/v2' }
  )
  const of = async (url: string) => {
    const { body, headers } = await app.inject(url)
    return [headers['x-hook'], body]
  }
  t.strictSame(await of('/unknown'), [undefined, 'of the service'])
  t.strictSame(await of('/v2/unknown'), [undefined, 'of v2'])
  t.strictSame(await of('/v1/unknown'), ['ran', '{"message":"Route GET:/v1/unknown not found","error":"Not Found","statusCode":404}'])
})

t.test('finds every server of an instance, from a child context too, and no other server', async (t) => {
  const [app, other] = [Fastify(), Fastify()]
  t.teardown(() => Promise.all([app.close(), other.close()]))
  const { child } = await childOf(app)
  const servers: FastifyInstance['server'][] = []
  forEachServer(child, (server) => servers.push(server))
  t.strictSame([servers.length, servers[0] === app.server], [1, true])
  await app.listen({ host: 'localhost', port: 0 })
  await other.listen({ host: 'localhost', port: 0 })
  const foreign = createServer().listen(0, '127.0.0.1')
  t.teardown(() => foreign.close())
  await once(foreign, 'listening')
  t.strictSame(
    servers.map((server) => (server.address() as AddressInfo).address),
    localhostAddresses
  )
  const late: FastifyInstance['server'][] = []
  forEachServer(app, (server) => late.push(server))
  t.strictSame(late, servers, 'also those that listen already')
})

t.test('a further address that is in use does not stop the start or the end', async (t) => {
  const app = Fastify()
  const taken = createServer().listen(0, localhostAddresses[1])
  t.teardown(() => taken.close())
  await once(taken, 'listening')
  const servers: FastifyInstance['server'][] = []
  forEachServer(app, (server) => servers.push(server))
  await app.listen({ host: 'localhost', port: (taken.address() as AddressInfo).port })
  t.strictSame(servers, [app.server])
  await app.close()
})

t.test('an instance is closing from the first hook on', async (t) => {
  const app = Fastify()
  const seen: boolean[] = []
  app.addHook('preClose', async () => void seen.push(isClosing(app)))
  await app.ready()
  seen.push(isClosing(app))
  await app.close()
  t.strictSame(seen, [false, true])
})
