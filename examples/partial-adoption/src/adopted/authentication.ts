import authentication, { type AuthenticationOptions } from '@concordat/authentication'
import type { FastifyInstance } from 'fastify'

/** Requires a token on every route of a context. */
export async function adoptAuthentication(context: FastifyInstance, issuers: AuthenticationOptions['issuers']): Promise<void> {
  await context.register(authentication, { issuers, permissions: ['reports:read', 'reports:create'] })
}
