import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import errorCatalogue, { errorCatalogueServerOptions } from '@concordat/error-catalogue'
import { ApiError } from '@concordat/plugin-kit/api-error'
import { until } from '@concordat/test-harness/until'
import Fastify from 'fastify'
import t from 'tap'

const refused = Object.assign(new Error('the database system is shutting down'), { code: '57P03', severity: 'FATAL' })
const hostile = Object.defineProperty(new ApiError(503, 'SERVICE_UNAVAILABLE', 'Try again.'), 'cause', {
  get: () => {
    throw new Error('no cause')
  }
})

for (const [what, thrown, count] of [
  ['a driver that reports an outage', refused, 1],
  ['a 503 with a cause', new ApiError(503, 'SERVICE_UNAVAILABLE', 'Try again.', { cause: refused }), 1],
  ['a 503 without a cause', new ApiError(503, 'SERVICE_UNAVAILABLE', 'Try again.'), 5],
  ['a 500', new Error('broken'), 5]
] as const) {
  t.test(`logs five failures with ${what} in ${count} lines`, async (t) => {
    const lines: string[] = []
    const app = Fastify({
      ...errorCatalogueServerOptions(),
      logger: { level: 'error', stream: { write: (line: string) => void lines.push(line) } }
    })
    await app.register(errorCatalogue)
    app.get('/orders/:id', async () => {
      throw thrown
    })
    for (let request = 0; request < 5; request += 1) t.ok((await app.inject('/orders/7?token=S3CRET')).statusCode >= 500)
    t.equal(lines.filter((line) => line.includes('request failed')).length, count)
    const line = JSON.parse(lines[0] as string)
    t.match(line, { level: 50, reqId: /./, msg: 'request failed', method: 'GET', route: '/orders/:id' })
    // The message of an error for clients is not the reason.
    if (thrown.cause !== undefined) t.match(line.err.message, /shutting down/)
    t.notMatch(lines.join(''), 'S3CRET')
  })
}

t.test('responds with 503 to an error whose cause cannot be read', async (t) => {
  const app = Fastify(errorCatalogueServerOptions())
  await app.register(errorCatalogue)
  app.get('/', async () => {
    throw hostile
  })
  t.match((await app.inject('/')).json(), { error: { status: 503, code: 'SERVICE_UNAVAILABLE' } })
})

const unreadable = Object.defineProperty({}, 'name', {
  get: () => {
    throw new Error('no name')
  }
})

for (const [what, count, thrownAfter] of [
  ['the reason of request.signal', 0, (signal: AbortSignal) => signal.reason],
  ['another error', 1, () => new Error('broken')],
  ['an error whose name cannot be read', 1, () => unreadable]
] as const) {
  t.test(`logs ${count === 0 ? 'no error' : 'one error'} for a handler that throws ${what} after its client left`, async (t) => {
    const lines: string[] = []
    const app = Fastify({
      ...errorCatalogueServerOptions(),
      logger: { level: 'debug', stream: { write: (line: string) => void lines.push(line) } }
    })
    t.teardown(() => app.close())
    await app.register(errorCatalogue)
    const requested = Promise.withResolvers<void>()
    app.get('/', async ({ signal }) => {
      requested.resolve()
      await once(signal, 'abort')
      throw thrownAfter(signal)
    })
    await app.listen({ host: '127.0.0.1', port: 0 })
    const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    await requested.promise
    socket.destroy()
    await until(() => lines.some((line) => /request (?:failed|rejected)/.test(line)))
    t.equal(lines.filter((line) => JSON.parse(line).level >= 50).length, count)
  })
}
