import type { FastifyInstance } from 'fastify'
import { checkAtStart } from '../findings/findings.ts'
import { type NotedRoute, routesUntilNow } from './instances.ts'
import { contractOf } from './wiring.ts'

/**
 * Returns the method and the path of each route that is registered on the whole server at this moment, such as those that a plugin finds when it is
 * registered itself. The hook `onRoute` of the plugin is not called for them. Throws an `Error` if this package was loaded after them.
 */
export function earlierRoutes(app: FastifyInstance): Pick<NotedRoute, 'method' | 'url'>[] {
  const routes = routesUntilNow(app).flatMap(({ method, url, isOfPrefix }) => {
    // Fastify does not call the hook for each second path.
    const isTwice = isOfPrefix && app.hasRoute({ method, url: `${url}/` })
    return (isTwice ? [url, `${url}/`] : [url]).map((path) => ({ method, url: path }))
  })
  return [...new Map(routes.map((route) => [`${route.method} ${route.url}`, route])).values()]
}

/**
 * Stops the start if routes below the prefix of `app` were registered before the plugin, which does not apply to them. In a child context, only
 * routes of that context count. Has no effect where routes outside the API are ordinary Fastify routes.
 */
export function requireNoEarlierRoutes(app: FastifyInstance, plugin: string): void {
  const isWithin = (context: FastifyInstance) => context === app || Object.prototype.isPrototypeOf.call(app, context)
  const missed = routesUntilNow(app).find(
    ({ method, url, context }) => method !== 'OPTIONS' && `${url}/`.startsWith(`${app.prefix}/`) && isWithin(context)
  )
  checkAtStart(app, () => {
    if (missed !== undefined && contractOf(app, 'belongsToApi') === undefined)
      throw new Error(
        `${plugin}: ${missed.method} ${missed.url} was registered before the plugin, which has no effect on it. Await the registration of the plugin before you add routes, or register the plugin in a child context with its routes.`
      )
  })
}
