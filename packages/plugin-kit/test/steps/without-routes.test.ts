import { warnWithoutRoutes } from '@concordat/plugin-kit/steps'
import Fastify from 'fastify'
import t from 'tap'

const handler = async () => 'x'

t.test('warns of a plugin in a child context to which no route is added after it', async (t) => {
  const lines: { level: number; msg: string }[] = []
  const app = Fastify({ logger: { stream: { write: (line: string) => void lines.push(JSON.parse(line)) } } })
  warnWithoutRoutes(app, 'on-root')
  await app.register(async (child) => warnWithoutRoutes(child, 'alone'))
  await app.register(async (child) => {
    child.get('/before', handler)
    warnWithoutRoutes(child, 'after-routes')
  })
  await app.register(async (child) => {
    warnWithoutRoutes(child, 'with-route')
    child.get('/with-route', handler)
  })
  await app.register(async (child) => {
    warnWithoutRoutes(child, 'with-route-below')
    await child.register(async (below) => void below.get('/below', handler), { prefix: '/below' })
  })
  await app.ready()
  const remedy =
    'the context of the plugin has no routes after it, so it has no effect. Register it before the routes, in their context or around it. In a file of @fastify/autoload, wrap the function with fastify-plugin.'
  t.strictSame(
    lines.map(({ level, msg }) => [level, msg]),
    [
      [40, `alone: ${remedy}`],
      [40, `after-routes: ${remedy}`]
    ]
  )
})
