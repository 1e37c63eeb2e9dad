import { found } from '@concordat/postgres/rows'
import { table } from '@concordat/postgres/table'
import type { TokenIssuer } from '@concordat/token-issuing'
import { IdPath, projection, type Resource } from '../fields.ts'
import { User, UserChanges } from './schemas.ts'

const userTable = table<User>({ name: 'users', fields: new Set(['id', 'role']) }, { hasVersion: false })

/** The routes with which administrators change the role of a user. */
export const users: Resource<{ issuer: Pick<TokenIssuer, 'revokeSubject'> }> = async (app, { database, issuer }) => {
  app.get(
    '/users/:id',
    { config: { permissions: ['users:read'], projection }, schema: { params: IdPath, response: { 200: User } } },
    async ({ params }) => found(await userTable.find(database, params))
  )

  app.patch(
    '/users/:id',
    {
      config: { permissions: ['users:update'], idempotency: 'off' },
      schema: { params: IdPath, body: UserChanges, response: { 200: User } }
    },
    async ({ params, body }) => {
      const user = await userTable.update(database, params, body)
      // Also for the same role, so that a request that failed here can be repeated. Tokens with the old role end, and webhook subscriptions are disabled.
      await issuer.revokeSubject(user.id)
      return user
    }
  )
}
