import conditionalCaching, { type Preconditions, type ValidatorFunction } from '@concordat/conditional-caching'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Database } from '../database.ts'

/** Adds entity tags, 304 and 412 to the routes of a context. Their bodies stay as they are. */
export async function adoptConditionalCaching(context: FastifyInstance): Promise<void> {
  await context.register(conditionalCaching)
}

/** Returns the validator of a product: its version. */
export function productVersion(database: Database): ValidatorFunction {
  return async (request) => {
    const { id } = request.params as { id: number }
    const { rows } = await database.query('SELECT version FROM products WHERE id = $1', [id])
    return rows[0] === undefined ? { exists: false } : { exists: true, etag: Number(rows[0]['version']) }
  }
}

/** Returns the versions that the client allows a change to replace, or null for any; always null while the package is not adopted. */
export function requestedVersions(request: FastifyRequest): readonly string[] | null {
  const versions = preconditionsOf(request)?.versions() ?? null
  return versions === '*' ? null : versions
}

/** Returns the error for a change that lost against another change, if the client named a version. */
export function versionConflict(request: FastifyRequest): Error | undefined {
  return requestedVersions(request) === null ? undefined : preconditionsOf(request)?.failed()
}

function preconditionsOf(request: Partial<FastifyRequest>): Preconditions | undefined {
  return request.preconditions
}
