import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify'

const patchBodies = new WeakSet<object>()

/** Marks the bodies of PATCH on a route with other methods too: Fastify compiles one validator for all methods, and passes only the value to it. */
export function markPatchBodies(route: RouteOptions): void {
  const methods = [route.method].flat()
  if (methods.length === 1 || !methods.includes('PATCH')) return
  route.preValidation = [route.preValidation ?? [], markPatchBody].flat()
}

/** Returns whether a value is a body that {@link markPatchBodies} has marked. */
export function isPatchBody(value: unknown): boolean {
  return patchBodies.has(value as object)
}

function markPatchBody({ method, body }: FastifyRequest, _reply: FastifyReply, next: () => void) {
  if (method === 'PATCH' && typeof body === 'object' && body !== null) patchBodies.add(body)
  next()
}
