import { found, statementsOn } from '@concordat/postgres/rows'
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
      config: { permissions: ['users:update'], idempotency: 'accepted', transaction: true },
      schema: { params: IdPath, body: UserChanges, response: { 200: User } },
      // Tokens that were issued with the old role while the change was committed end too.
      onResponse: async ({ params }, { statusCode }) => (statusCode === 200 ? issuer.revokeSubject(params.id) : undefined)
    },
    async ({ params, body, transaction }) => {
      const user = found(await userTable.find(database, params))
      // Before the change, which does not happen if this fails. Tokens with the old role end, and webhook subscriptions are disabled.
      await issuer.revokeSubject(user.id)
      return userTable.update(statementsOn(transaction), params, body)
    }
  )
}
