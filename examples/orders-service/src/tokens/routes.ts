import type { TokenRequest as Grant } from '@concordat/authentication'
import { credentialLimit } from '@concordat/rate-limiting'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { NewTokenRevocation, TokenRequest, TokenResponse, TokenRevocation } from './schemas.ts'
import type { Sessions } from './sessions.ts'

// A client of these routes has no token yet, or sends in the body the token that the request is about.
const config = { public: true, rateLimit: credentialLimit } as const

const refusals = [
  'INVALID_CREDENTIALS',
  'REFRESH_TOKEN_INVALID',
  'REFRESH_TOKEN_EXPIRED',
  'REFRESH_TOKEN_REVOKED',
  'REFRESH_TOKEN_REUSED',
  'LOGIN_ATTEMPTS_EXCEEDED',
  'LOGINS_OVERLOADED',
  'INVALID_TOKEN_REQUEST'
]

export const tokens: FastifyPluginAsyncTypebox<{ sessions: Sessions }> = async (app, { sessions }) => {
  const { issuer, accessTokens } = sessions

  app.post(
    '/tokens',
    { config: { ...config, openapi: { errors: refusals } }, schema: { body: TokenRequest, response: { 200: TokenResponse } } },
    async (request, reply) => {
      reply.header('cache-control', 'no-store')
      // The issuer checks which fields belong together.
      return issuer.issue(request.body as Grant, { address: request.ip })
    }
  )

  app.post(
    '/token-revocations',
    { config, schema: { body: NewTokenRevocation, response: { 201: TokenRevocation } } },
    async (request, reply) => {
      const { token } = request.body
      if (!(await issuer.revokeRefreshToken(token))) {
        // A token that is not valid does not belong to a session that could be ended (RFC 7009 §2.2).
        const claims = await accessTokens.verify(token).catch(() => undefined)
        if (claims !== undefined) await issuer.revokeAccessToken(claims)
      }
      reply.header('cache-control', 'no-store')
      // A revocation does not have an address of its own.
      return reply.created('/token-revocations', { revokedAt: new Date().toISOString() })
    }
  )
}
