// A service with the preset as a process of its own, which a test stops and starts again. It prints `ready` when it listens.
import conventions, { serverOptions } from '@concordat/conventions'
import { turns, until } from '@concordat/test-harness/until'
import Fastify from 'fastify'

const app = Fastify(serverOptions())
// Before the conventions, like a service that is not ready meanwhile. nginx does not notice that.
app.addHook('preClose', async () => {
  const begunAt = performance.now()
  await until(() => performance.now() - begunAt > 500)
})
await app.register(conventions, {
  versions: { 1: { status: 'current' } },
  authentication: false,
  openapi: false,
  rateLimiting: false,
  transportSecurity: { dangerouslyAllowHttp: 'loopback' }
})
app.post('/orders', async () => {
  await turns()
  return { id: 1 }
})
await app.listen({ host: '127.0.0.1', port: Number(process.env['PORT']) })
process.once('SIGTERM', () => app.close())
process.stdout.write('ready\n')
