import type { FastifyInstance } from 'fastify'
import { contractOf } from './wiring.ts'

/** The method and the path of a registered route. */
export interface RegisteredRoute {
  readonly method: string
  readonly url: string
}

/**
 * Returns the routes that are registered on the whole server at this moment, such as those that a plugin finds when it is registered itself. The
 * hook `onRoute` of the plugin is not called for them.
 */
export function earlierRoutes(app: FastifyInstance): RegisteredRoute[] {
  const path: string[] = []
  return app
    .printRoutes()
    .split('\n')
    .flatMap((line) => {
      const [, indentation = '', segment = '', methods] = /^([│ ]*)[├└]── (.*?)(?: \(([A-Z, -]+)\)(?: \{.*\})?)?$/.exec(line) ?? []
      if (segment === '') return []
      path.length = indentation.length / 4
      path.push(segment === '(empty root node)' ? '' : segment)
      const url = path.join('')
      return methods === undefined ? [] : methods.split(', ').map((method) => ({ method, url }))
    })
}

/**
 * Stops the start if routes below the prefix of `app` were registered before the plugin, which does not apply to them. Has no effect where routes
 * outside the API are ordinary Fastify routes.
 */
export function requireNoEarlierRoutes(app: FastifyInstance, plugin: string): void {
  const earlier = earlierRoutes(app).find(({ method, url }) => method !== 'OPTIONS' && `${url}/`.startsWith(`${app.prefix}/`))
  if (earlier === undefined) return
  app.addHook('onReady', async () => {
    if (contractOf(app, 'belongsToApi') !== undefined) return
    throw new Error(
      `${plugin}: ${earlier.method} ${earlier.url} was registered before the plugin, which has no effect on it. Await the registration of the plugin before you add routes, or register the plugin in a child context with its routes.`
    )
  })
}
