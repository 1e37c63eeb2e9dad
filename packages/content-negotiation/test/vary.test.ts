import contentNegotiation from '@concordat/content-negotiation'
import Fastify from 'fastify'
import t from 'tap'

t.test('every response has Vary: accept, also for errors and unknown URLs [N6]', async (t) => {
  const app = Fastify()
  await app.register(contentNegotiation)
  app.get('/orders', async () => [])
  app.delete('/orders', async (_request, reply) => reply.code(204).send())
  for (const [method, url, accept, status] of [
    ['GET', '/orders', '*/*', 200],
    ['HEAD', '/orders', '*/*', 200],
    ['DELETE', '/orders', '*/*', 204],
    ['GET', '/orders', 'text/html', 406],
    ['GET', '/nothing', '*/*', 404]
  ] as const) {
    const response = await app.inject({ method, url, headers: { accept } })
    t.match(response, { statusCode: status, headers: { vary: 'accept' } }, `${method} ${url} ${accept}`)
  }
})

t.test('preserves the Vary of handlers and other plugins [N6]', async (t) => {
  const app = Fastify()
  await app.register(contentNegotiation)
  app.addHook('onRequest', async (request, reply) => {
    if (request.headers.origin !== undefined) reply.header('vary', 'Origin')
  })
  app.get('/handler', async (_request, reply) => reply.header('vary', 'Accept, Prefer').send([]))
  app.get('/list', async (_request, reply) => reply.header('vary', ['Origin', 'Accept-Encoding']).send([]))
  app.get('/raw', async (_request, reply) => {
    reply.raw.setHeader('Vary', 'Cookie')
    return []
  })
  app.get('/star', async (_request, reply) => reply.header('vary', 'Origin, *').send([]))
  const varyOf = async (url: string) => (await app.inject({ url, headers: { origin: 'https://shop.example' } })).headers.vary
  t.equal(await varyOf('/handler'), 'accept, prefer')
  t.equal(await varyOf('/list'), 'origin, accept-encoding, accept')
  t.equal(await varyOf('/raw'), 'origin, accept')
  t.equal(await varyOf('/star'), '*')
  t.equal(await varyOf('/nothing'), 'origin, accept')
  t.equal((await app.inject('/raw')).headers.vary, 'cookie, accept')
})

t.test('a response with Content-Language varies by Accept-Language [N6] [G1]', async (t) => {
  const app = Fastify()
  await app.register(contentNegotiation)
  app.get('/text', async (request, reply) => reply.header('content-language', request.locale).send([]))
  app.get('/more', async (_request, reply) => reply.headers({ 'content-language': 'en', vary: 'Origin' }).send([]))
  t.match((await app.inject({ url: '/text', headers: { 'accept-language': 'es' } })).headers, {
    'content-language': 'es',
    vary: 'accept, accept-language'
  })
  t.equal((await app.inject('/more')).headers.vary, 'origin, accept, accept-language')
})
