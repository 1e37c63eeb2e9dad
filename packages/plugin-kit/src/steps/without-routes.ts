import type { FastifyInstance } from 'fastify'

/**
 * Logs a warning if the steps of a plugin apply to no route: the plugin is registered in a child context to which no route is added after it, such as a file
 * of `@fastify/autoload` whose function is not wrapped with fastify-plugin.
 */
export function warnWithoutRoutes(app: FastifyInstance, plugin: string): void {
  const isRoot = !('printRoutes' in (Object.getPrototypeOf(app) as object))
  if (isRoot) return
  let hasRoutes = false
  app.addHook('onRoute', () => {
    hasRoutes = true
  })
  app.addHook('onReady', async () => {
    if (!hasRoutes)
      app.log.warn(
        `${plugin}: the context of the plugin has no routes after it, so it has no effect. Register it before the routes, in their context or around it. In a file of @fastify/autoload, wrap the function with fastify-plugin.`
      )
  })
}
