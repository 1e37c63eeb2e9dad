import type { OpenDatabase } from '@concordat/postgres/open'
import { found } from '@concordat/postgres/rows'
import type { TokenIssuer } from '@concordat/token-issuing'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { IdPath, projection } from '../fields.ts'
import { changeRole, findUserRole } from './repository.ts'
import { User, UserChanges } from './schemas.ts'

/** The routes with which administrators change the role of a user. */
export const users: FastifyPluginAsyncTypebox<{ database: OpenDatabase; issuer: Pick<TokenIssuer, 'revokeSubject'> }> = async (
  app,
  { database, issuer }
) => {
  app.get(
    '/users/:id',
    { config: { permissions: ['users:read'], projection }, schema: { params: IdPath, response: { 200: User } } },
    async ({ params }) => found(await findUserRole(database, params.id))
  )

  app.patch(
    '/users/:id',
    {
      config: { permissions: ['users:update'], idempotency: 'off' },
      schema: { params: IdPath, body: UserChanges, response: { 200: User } }
    },
    async ({ params, body }) => {
      const user = found(await changeRole(database, params.id, body.role))
      // Also for the same role, so that a request that failed here can be repeated. Tokens with the old role end, and webhook subscriptions are disabled.
      await issuer.revokeSubject(user.id)
      return user
    }
  )
}
