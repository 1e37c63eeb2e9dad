// Express with one log line per request by pino.
import express from 'express'
import pino from 'pino'
import { logStream, products, productsById } from '../resources.ts'
import { bearer, enveloped, notFound } from './hand-written.mjs'

export async function serve() {
  const app = express()
  const log = pino({ level: 'info' }, logStream())
  app.use((request, response, next) => {
    const start = performance.now()
    response.on('finish', () => {
      const { method, originalUrl: url } = request
      log.info({ method, url, statusCode: response.statusCode, responseTimeMs: performance.now() - start }, 'request completed')
    })
    next()
  })
  app.get('/v1/products/:id', (request, response) => {
    const found = productsById.get(request.params.id)
    if (found === undefined) response.status(404).json(notFound('GET', request.originalUrl))
    else response.json(enveloped('GET', request.originalUrl, found))
  })
  app.get('/v1/products', (request, response) => void response.json(enveloped('GET', request.originalUrl, products)))
  return {
    listen: () =>
      new Promise((resolve) => {
        const server = app.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${server.address().port}`))
      }),
    headers: bearer()
  }
}
