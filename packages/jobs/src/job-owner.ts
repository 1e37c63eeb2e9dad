import { inTenant } from '@concordat/plugin-kit/wiring'
import type { FastifyRequest } from 'fastify'
import { errors } from './errors.ts'
import type { Settings } from './options.ts'

/** Returns the client that owns the jobs of a request, without its tenant. Throws 401 `CLIENT_NOT_IDENTIFIED` for an anonymous request. */
export function ownerOf(request: FastifyRequest, { owner, clientHeader }: Settings): string {
  const who = owner(request)
  if (who) return who
  request.log.info(
    'jobs: options.owner returned no client for this request. Accept only authenticated clients on the route, or return an owner for anonymous requests.'
  )
  throw errors.create('CLIENT_NOT_IDENTIFIED', { params: { header: clientHeader } })
}

/** Returns the client that owns the jobs of a request, and its tenant, as records have them; undefined for an anonymous request. */
export function storedOwnerOf(request: FastifyRequest, { owner, tenantOf }: Settings): string | undefined {
  const who = owner(request)
  return who ? inTenant(who, tenantOf(request)) : undefined
}
