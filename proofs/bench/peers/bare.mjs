// Fastify with response schemas and its own log, without any plugin: no token, no limits, no tags and no keys.
import Fastify from 'fastify'
import { logStream } from '../resources.ts'
import { addRoutes, bearer, inMemory, serverOptions } from './hand-written.mjs'

export async function serve({ routes = '0' }) {
  const app = Fastify({ ...serverOptions, logger: { level: 'info', stream: logStream() } })
  const data = await inMemory()
  addRoutes(app, data)
  for (let number = 0; number < Number(routes); number += 1) app.get(`/v1/shelves${number}/:id`, async () => ({}))
  return { app, headers: bearer() }
}
