import { checkAtStart } from '@concordat/plugin-kit/findings'
import { contractLater, contributions } from '@concordat/plugin-kit/wiring'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { DeletedOptions } from '../declaration/deleted-rows.ts'

// The key of the request property that says that the client reads deleted rows.
const deleted: unique symbol = Symbol('concordat.deleted')

type DeletedRequest = FastifyRequest & { [deleted]?: true }

/**
 * Returns a function that admits a client to the deleted rows of a collection, or rejects with 403. Without authentication the start fails, as it does
 * where nothing removes rows whose time has passed.
 */
export function deletedRows(app: FastifyInstance, name: string, collection: string, { seenWith, keepDays }: DeletedOptions) {
  const clients = contractLater(app, 'clients')
  if (seenWith !== undefined || keepDays !== undefined) checkAtStart(app, requireWiring)

  return async (request: FastifyRequest) => {
    await clients()?.requirePermissions(request, [seenWith as string])
    ;(request as DeletedRequest)[deleted] = true
  }

  function requireWiring() {
    if (seenWith !== undefined && clients() === undefined)
      throw new TypeError(
        `pagination-query: ${name}: deleted rows need the permission "${seenWith}", which nothing checks. Register authentication, or remove deleted.seenWith.`
      )
    // Without the name of the route, it is one finding for all routes of the collection.
    if (keepDays !== undefined && !contributions(app, 'retention').includes(collection))
      throw new TypeError(
        `pagination-query: nothing removes the rows of "${collection}" that were deleted ${keepDays} days ago. Call removeDeleted of @concordat/postgres/table before the start, or remove deleted.keepDays.`
      )
  }
}

/** Returns whether a request reads deleted rows, and may. */
export function readsDeleted(request: FastifyRequest): boolean {
  return (request as DeletedRequest)[deleted] === true
}
