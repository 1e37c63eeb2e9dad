import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { addRoute, aThing, Thing } from './things.ts'

/** Adds correct routes, which clients misuse. */
export function addOrdinaryRoutes(app: FastifyInstance): void {
  const NewThing = Type.Object({
    name: Type.String({ minLength: 1, maxLength: 20 }),
    size: Type.Integer({ minimum: 0, maximum: 100 }),
    tags: Type.Optional(Type.Array(Type.String(), { maxItems: 3 })),
    maker: Type.Optional(Type.Object({ name: Type.String(), country: Type.String({ pattern: '^[A-Z]{2}$' }) }))
  })
  addRoute(app, '/probe', () => ({ id: String(process.pid) }))
  addRoute(app, '/things', () => aThing)
  addRoute(app, '/things', () => aThing, { method: 'POST', schema: { body: NewThing } })
  addRoute(app, '/things/:id', () => aThing, { schema: { params: Type.Object({ id: Type.String({ pattern: '^[a-z]{1,40}$' }) }) } })
  addRoute(app, '/things/:id', () => aThing, { method: 'DELETE' })
  addRoute(app, '/anything', (request) => ({ id: typeof request.body }), { method: 'POST', schema: { response: { 200: Thing } } })
  addRoute(app, '/anything', (request) => ({ id: typeof request.body }), { method: 'PUT' })
  addRoute(app, '/anything', (request) => ({ id: typeof request.body }), { method: 'PATCH' })
  addRoute(app, '/small', () => aThing, { method: 'POST', bodyLimit: 64 })
  addRoute(app, '/queries', () => aThing, {
    schema: { querystring: Type.Object({ count: Type.Optional(Type.Integer({ minimum: 1 })) }, { additionalProperties: false }) }
  })
  addRoute(app, '/headers', () => aThing, { schema: { headers: Type.Object({ 'x-count': Type.Integer() }) } })
}
