import errorCatalogue from '@concordat/error-catalogue'
import type { FastifyInstance } from 'fastify'

/** Puts the errors of a context into the error envelope. Fastify is created without `errorCatalogueServerOptions()`. */
export async function adoptErrorCatalogue(context: FastifyInstance): Promise<void> {
  await context.register(errorCatalogue, { publicUrl: 'https://shop.example', version: () => 'v2' })
}
