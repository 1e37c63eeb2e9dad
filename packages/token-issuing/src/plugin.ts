import { randomUUID } from 'node:crypto'
import { isFromThisMachine } from '@concordat/plugin-kit/links'
import { contractOf, requireKnownConfig } from '@concordat/plugin-kit/wiring'
import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { canonicalUsername } from './login-attempts.ts'
import { configs, type SignInRoutesOptions, signInRoutesOptions } from './route-options.ts'
import { newRevocationSchema, revocationSchema, tokenRequestSchema, tokenResponseSchema } from './route-schemas.ts'
import type { TokenIssuer } from './token-issuer.ts'

/**
 * Adds the routes with which clients sign in, refresh their tokens and sign out: `POST /tokens` and `POST /token-revocations`, below the prefix of the
 * context (rules E6, U3, U4). Throws a `TypeError` of one line for invalid options.
 */
const signInRoutes: FastifyPluginAsync<SignInRoutesOptions> = async (app, options) => {
  const { issuer, verify, localUsers, routeConfig } = signInRoutesOptions.readPlugin(options)

  const local = new Set(localUsers.map(canonicalUsername))
  requireKnownConfig(app, 'token-issuing')
  // In a service with tenants, the tenant of a user is known only once there is a token.
  const none = contractOf(app, 'clients')?.tenantOf === undefined ? {} : { tenant: 'none' as const }
  app.post(
    '/tokens',
    {
      config: { ...configs.issueToken, ...none, ...routeConfig('issueToken') },
      schema: { body: tokenRequestSchema, response: { 200: tokenResponseSchema } }
    },
    async (request, reply) => {
      reply.header('cache-control', 'no-store')
      // The issuer checks which fields belong together.
      return issuer.issue(tokenRequestOf(request), { address: request.ip })
    }
  )

  app.post<{ Body: { token: string } }>(
    '/token-revocations',
    {
      config: { ...configs.revokeToken, ...none, ...routeConfig('revokeToken') },
      schema: { body: newRevocationSchema, response: { 201: revocationSchema } }
    },
    async (request, reply) => {
      const { token } = request.body
      if (!(await issuer.revokeRefreshToken(token))) {
        // A token that is not valid does not belong to a session that could be ended (RFC 7009 §2.2).
        const claims = await verify(token).catch(() => undefined)
        if (claims !== undefined) await issuer.revokeAccessToken(claims)
      }
      reply.header('cache-control', 'no-store')
      // Without `Location`: a revocation is an action, of which nothing can be read later.
      reply.code(201)
      return { revokedAt: new Date().toISOString() }
    }
  )

  function tokenRequestOf(request: FastifyRequest) {
    const body = request.body as Parameters<TokenIssuer['issue']>[0]
    const isLocal = 'username' in body && local.has(canonicalUsername(body.username))
    if (!isLocal || body.password === undefined || isFromThisMachine(request)) return body
    // The response and its time are those of a wrong password.
    return { ...body, password: randomUUID() }
  }
}

export default signInRoutes
