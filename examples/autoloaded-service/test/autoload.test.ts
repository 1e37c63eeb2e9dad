import { join } from 'node:path'
import conventions, { serverOptions } from '@concordat/conventions'
import autoload from '@fastify/autoload'
import Fastify from 'fastify'
import t from 'tap'

// What docs/autoload.md says.

const folder = (name: string) => ({ dir: join(import.meta.dirname, 'folders', name) })

function recorded() {
  const messages: string[] = []
  const stream = { write: (line: string) => void messages.push((JSON.parse(line) as { msg: string }).msg) }
  const app = Fastify({ logger: { level: 'warn', stream } })
  return { app, messages }
}

t.test('a package in a file without fastify-plugin has no effect, and a line at the start says so', async (t) => {
  const { app, messages } = recorded()
  await app.register(autoload, folder('plugins'))
  await app.register(autoload, folder('routes'))
  t.equal((await app.inject('/products')).headers['ratelimit'], undefined)
  t.strictSame(messages, [
    'rate-limiting: the context of the plugin has no routes after it, so it has no effect. Register it before the routes, in their context or around it. In a file of @fastify/autoload, wrap the function with fastify-plugin.'
  ])
})

t.test('a package in a file with fastify-plugin applies to all routes', async (t) => {
  const { app, messages } = recorded()
  await app.register(autoload, folder('wrapped'))
  await app.register(autoload, folder('routes'))
  t.match((await app.inject('/products')).headers['ratelimit'], /^"address"/)
  t.strictSame(messages, [])
})

t.test('packages in autohooks.ts apply to the routes of the folder', async (t) => {
  const { app, messages } = recorded()
  app.get('/others', async () => [])
  await app.register(autoload, { ...folder('routes'), autoHooks: true })
  t.type((await app.inject('/products')).headers.etag, 'string')
  t.match(await app.inject({ method: 'DELETE', url: '/products' }), { statusCode: 405, headers: { allow: 'GET, HEAD, OPTIONS' } })
  t.equal((await app.inject('/others')).headers.etag, undefined)
  t.equal((await app.inject({ method: 'DELETE', url: '/others' })).statusCode, 404)
  t.strictSame(messages, [])
})

t.test('a folder has the routes of a version', async (t) => {
  const app = Fastify(serverOptions())
  await app.register(conventions, {
    publicUrl: 'https://api.example.com',
    versions: { 1: {} },
    authentication: false,
    transportSecurity: { dangerouslyAllowHttp: 'loopback' }
  })
  await app.apiVersion(1, async (v1) => {
    await v1.register(autoload, folder('v1'))
  })
  const payload = { id: '018f4e2a-7c1b-7d3e-9a5f-0123456789ab' }
  t.match((await app.inject('/v1/orders/1')).json(), { data: payload })
  const created = await app.inject({ method: 'POST', url: '/v1/orders', payload })
  t.match(created, { statusCode: 201, headers: { location: 'https://api.example.com/v1/orders/1' } })
  t.equal((await app.inject({ method: 'POST', url: '/v1/orders/', payload })).statusCode, 404)
})
