import type { FastifyInstance } from 'fastify'
import type { ConventionsOptions } from './options.ts'

/** Returns the function that links a version to its description and to the reference page (RFC 8631), if they are served. */
export function descriptionLinks(app: FastifyInstance, { openapi }: ConventionsOptions) {
  const reference = (openapi !== false && openapi?.reference) || '/reference'
  return (version: string): { readonly rel: string; readonly path: string }[] =>
    [
      { rel: 'service-desc', path: `/${version}/openapi` },
      { rel: 'service-doc', path: reference }
    ].filter(({ path }) => app.hasRoute({ method: 'GET', url: path }))
}
