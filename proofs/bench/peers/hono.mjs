// Hono on Node.js with one log line per request by pino.
import { serve as listen } from '@hono/node-server'
import { Hono } from 'hono'
import pino from 'pino'
import { logStream, products, productsById } from '../resources.ts'
import { bearer, enveloped, notFound } from './hand-written.mjs'

export async function serve() {
  const app = new Hono()
  const log = pino({ level: 'info' }, logStream())
  app.use(async (context, next) => {
    const start = performance.now()
    await next()
    const { method, path: url } = context.req
    log.info({ method, url, statusCode: context.res.status, responseTimeMs: performance.now() - start }, 'request completed')
  })
  app.get('/v1/products/:id', (context) => {
    const found = productsById.get(context.req.param('id'))
    if (found === undefined) return context.json(notFound('GET', context.req.path), 404)
    return context.json(enveloped('GET', context.req.path, found))
  })
  app.get('/v1/products', (context) => context.json(enveloped('GET', context.req.path, products)))
  return {
    listen: () =>
      new Promise((resolve) =>
        listen({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) => resolve(`http://127.0.0.1:${port}`))
      ),
    headers: bearer()
  }
}
