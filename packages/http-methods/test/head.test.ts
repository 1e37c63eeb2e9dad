import { Readable } from 'node:stream'
import httpMethods from '@concordat/http-methods'
import Fastify, { type RouteOptions } from 'fastify'
import t from 'tap'

// Like a compressor: it changes the body and says so in a header.
function addLetters(...[, reply, payload, next]: Parameters<NonNullable<Extract<RouteOptions['onSend'], (...all: never) => unknown>>>) {
  if (typeof payload !== 'string') return next(null, payload)
  reply.header('x-added', 'yes')
  next(null, `${payload}d`)
}

function said({ date: _date, connection: _connection, 'transfer-encoding': _coding, ...headers }: object & Record<string, unknown>) {
  return headers
}

t.test('onSend hooks that plugins add to routes see the body of a response to HEAD, as for GET [M7]', async (t) => {
  const app = Fastify()
  await app.register(httpMethods)
  app.addHook('onRoute', (route: RouteOptions) => {
    route.onSend = [route.onSend ?? [], addLetters].flat()
  })
  app.get('/text', async () => 'abc')
  app.get('/empty', async (_request, reply) => reply.send())
  app.get('/unchanged', async (_request, reply) => reply.code(304).send(null))
  app.get('/none', async (_request, reply) => reply.code(204).send(null))
  app.get('/null', async (_request, reply) => reply.send(null))
  app.get('/stream', async (_request, reply) => reply.send(Readable.from(['a', 'b'])))
  app.head('/own', async (_request, reply) => reply.header('content-length', '7').send())
  for (const url of ['/text', '/empty', '/unchanged', '/none', '/null', '/stream']) {
    const [get, head] = [await app.inject(url), await app.inject({ method: 'HEAD', url })]
    t.strictSame([head.statusCode, said(head.headers)], [get.statusCode, said(get.headers)], url)
    t.equal(head.body, '', url)
  }
  t.equal((await app.inject({ method: 'HEAD', url: '/text' })).headers['content-length'], '4')
  t.equal((await app.inject({ method: 'HEAD', url: '/own' })).headers['content-length'], '7')
})
