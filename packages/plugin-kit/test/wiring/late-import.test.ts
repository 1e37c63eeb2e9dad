// In a process of its own: it needs the plugins not to be loaded yet.
import Fastify, { type FastifyInstance } from 'fastify'
import t from 'tap'

const handler = async () => 'x'
const [empty, used] = [Fastify(), Fastify()]
used.get('/early', handler)
const { earlierRoutes, requireNoEarlierRoutes } = await import('@concordat/plugin-kit/wiring')
await import(new URL('../../src/wiring/instances.ts?copy', import.meta.url).href)

const urls = (app: FastifyInstance) => earlierRoutes(app).map(({ method, url }) => `${method} ${url}`)

t.test('an instance without routes may be older than the import, and its routes are known from then on', async (t) => {
  await empty.register(async (child) => {
    t.strictSame(urls(child), [])
    child.get('/child', { exposeHeadRoute: false }, handler)
  })
  empty.get('/root', { exposeHeadRoute: false }, handler)
  t.strictSame(urls(empty), ['GET /child', 'GET /root'])
})

t.test('routes that are older than the import stop the start, because no plugin knows them', async (t) => {
  const expected = { message: /^plugin-kit: routes were added before the plugins were imported/ }
  t.throws(() => earlierRoutes(used), expected)
  t.throws(() => requireNoEarlierRoutes(used, 'a-plugin'), expected)
})

t.test('two copies of the module list each route once', async (t) => {
  const app = Fastify()
  app.get('/one', { exposeHeadRoute: false }, handler)
  t.strictSame(urls(app), ['GET /one'])
})
