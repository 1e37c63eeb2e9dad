import type { FastifyInstance, FastifyRequest } from 'fastify'
import { productVersion, requestedVersions, versionConflict } from './adopted/conditional-caching.ts'
import type { Database } from './database.ts'
import { addList, addResource } from './resource.ts'
import { ServiceError } from './service-error.ts'

type Renaming = FastifyRequest<{ Params: { id: string }; Body: { name: string } }>

/** Adds the products, which clients cache and change. */
export function addProducts(app: FastifyInstance, database: Database, isCached: boolean): void {
  const config = isCached ? { validator: productVersion(database) } : {}
  addList(app, database, 'products')
  addResource(app, database, 'products', { item: config })
  app.patch('/products/:id', { config }, async (request) => {
    const { params, body } = request as Renaming
    const { rows } = await database.query(
      `UPDATE products SET name = $2, version = version + 1
       WHERE id = $1 AND ($3::int[] IS NULL OR version = ANY ($3)) RETURNING id, name, amount`,
      [params.id, body.name, requestedVersions(request)]
    )
    if (rows[0] === undefined) throw versionConflict(request) ?? new ServiceError(404, 'MISSING', 'It does not exist.')
    return rows[0]
  })
}
