import { contributions } from '@concordat/plugin-kit/wiring'
import transportSecurity, { transportSecurityServerOptions } from '@concordat/transport-security'
import Fastify, { type FastifyServerOptions } from 'fastify'
import t from 'tap'

t.test('the description has the form of request ids, unless the service makes its own', async (t) => {
  const own = { pattern: '^[\\w-]{16,64}$', maxLength: 64 }
  const cases: readonly (readonly [FastifyServerOptions, object])[] = [
    [{}, own],
    [transportSecurityServerOptions(), own],
    [transportSecurityServerOptions({ requestIdFrom: 'proxy', trustProxy: ['10.0.0.1'] }), own],
    [{ genReqId: () => 'mine' }, {}]
  ]
  for (const [options, limits] of cases) {
    const app = Fastify(options)
    await app.register(transportSecurity, { dangerouslyAllowHttp: 'loopback' })
    const [operation] = contributions(app, 'operations')
    t.strictSame(operation?.({ method: 'GET', url: '/', config: {} })?.headers?.['Request-Id'], {
      description: 'The unique id of the request. Include it when you report a problem.',
      schema: { type: 'string', ...limits }
    })
    await app.close()
  }
})
