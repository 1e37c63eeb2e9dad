import httpMethods from '@concordat/http-methods'
import Fastify, { type FastifyInstance, type FastifyPluginAsync } from 'fastify'
import fp from 'fastify-plugin'
import t from 'tap'

const tasks: FastifyPluginAsync = async (context) => {
  await context.register(httpMethods)
  context.get('/tasks/:id', async () => ({}))
}
const warning =
  'http-methods: requests without a route do not reach the context of the plugin, because it has no prefix of its own, so they get neither 405 nor a response to OPTIONS. Register it on the root instance (in a file of @fastify/autoload, wrap the function with fastify-plugin) or in a context with a prefix.'

// Each with the status code of PUT for the path of a route, and the number of warnings.
const places: readonly [string, (app: FastifyInstance) => Promise<unknown>, string, number, number][] = [
  ['the root instance', async (app) => tasks(app, {}), '/tasks/1', 405, 0],
  ['a context that fastify-plugin removes', async (app) => app.register(fp(async (context) => tasks(context, {}))), '/tasks/1', 405, 0],
  ['a context with a prefix', async (app) => app.register(tasks, { prefix: '/v1' }), '/v1/tasks/1', 405, 0],
  ['a context without a prefix', async (app) => app.register(tasks), '/tasks/1', 404, 1],
  ['a context whose prefix is a slash', async (app) => app.register(tasks, { prefix: '/' }), '/tasks/1', 404, 1],
  [
    'a context without a prefix of its own',
    async (app) => app.register(async (v1) => v1.register(tasks), { prefix: '/v1' }),
    '/v1/tasks/1',
    404,
    1
  ],
  [
    'a context without a prefix, and the root instance',
    async (app) => {
      await app.register(httpMethods)
      await app.register(tasks)
    },
    '/tasks/1',
    405,
    0
  ],
  [
    'two contexts with the same prefix',
    async (app) => {
      await app.register(async (other) => other.register(httpMethods), { prefix: '/v1' })
      await app.register(tasks, { prefix: '/v1' })
    },
    '/v1/tasks/1',
    405,
    0
  ]
]

t.test('responds with 405 in each context that requests without a route reach, and warns in others [X1]', async (t) => {
  for (const [name, register, url, status, warnings] of places) {
    const lines: { level: number; msg: string }[] = []
    const app = Fastify({ logger: { stream: { write: (line: string) => void lines.push(JSON.parse(line)) } } })
    await register(app)
    await app.ready()
    t.strictSame(
      lines.map(({ level, msg }) => [level, msg]),
      Array.from({ length: warnings }, () => [40, warning]),
      name
    )
    t.equal((await app.inject({ method: 'PUT', url })).statusCode, status, name)
    t.equal((await app.inject({ method: 'OPTIONS', url })).statusCode, status === 405 ? 204 : 404, name)
  }
})
