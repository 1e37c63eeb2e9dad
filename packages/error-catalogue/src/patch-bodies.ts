import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify'

const patchBodies = new WeakSet<object>()

/**
 * Marks the bodies of PATCH requests on a route that has other methods too, for {@link isPatchBody}. Fastify compiles one validator for all methods
 * of a route, and passes only the value to it.
 */
export function markPatchBodies(route: RouteOptions): void {
  const methods = [route.method].flat()
  if (methods.length === 1 || !methods.includes('PATCH')) return
  route.preValidation = [route.preValidation ?? [], markPatchBody].flat()
}

/** Returns whether a value is a body that {@link markPatchBodies} has marked. */
export function isPatchBody(value: unknown): boolean {
  return typeof value === 'object' && value !== null && patchBodies.has(value)
}

function markPatchBody({ method, body }: FastifyRequest, _reply: FastifyReply, next: () => void) {
  if (method === 'PATCH' && typeof body === 'object' && body !== null) patchBodies.add(body)
  next()
}
