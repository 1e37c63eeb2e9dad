import webhooks from '@concordat/webhooks'
import Fastify from 'fastify'
import t from 'tap'

t.test('stock Fastify prints the error of a path that is too long', async (t) => {
  const app = Fastify()
  await app.register(webhooks, { maxPathLength: 5 })
  app.get('/*', () => 'here')
  t.match((await app.inject('/1234')).body, 'here')
  t.match((await app.inject('/12345')).json(), {
    statusCode: 414,
    code: 'WEBHOOKS_PATH_TOO_LONG',
    message: /longer than 5 characters/
  })
})

t.test('a route can take paths of any length', async (t) => {
  const app = Fastify()
  await app.register(webhooks, { maxPathLength: 5 })
  app.get('/*', { config: { webhooks: false } }, () => 'here')
  t.match((await app.inject('/12345')).statusCode, 200)
})

t.test('without options paths of usual length pass, and a limit that makes no sense is refused at boot', async (t) => {
  const app = Fastify()
  await app.register(webhooks)
  t.equal((await app.inject('/nowhere')).statusCode, 404)
  const wrong = Fastify()
  wrong.register(webhooks, { maxPathLength: 0 })
  await t.rejects(async () => wrong.ready(), { message: 'maxPathLength is 0. Give a whole number of at least 1.' })
})
