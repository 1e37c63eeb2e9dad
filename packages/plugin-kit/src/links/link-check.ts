import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify'

type LinkCheck = (request: FastifyRequest, path: string, method?: string) => void

/**
 * Returns a function that logs a warning, once for each route that responds, if no route serves the path that it links to. Does nothing in production
 * and for absolute URLs.
 */
export function linkCheck(app: FastifyInstance, plugin: string): LinkCheck {
  if (process.env['NODE_ENV'] === 'production') return () => {}
  const warned = new Set<string>()
  return (request, path, method = 'GET') => {
    const { headers, routeOptions } = request
    const route = `${request.method.replace('HEAD', 'GET')} ${String(routeOptions.url)}`
    if (warned.has(route) || /^https?:/i.test(path)) return
    const constraints = { host: headers.host ?? headers[':authority'], version: headers['accept-version'] }
    // For a path that it cannot parse, the router returns a handler too, without a parsed query.
    const target = { method, url: path, constraints: constraints as NonNullable<RouteOptions['constraints']> }
    if (app.findRoute(target)?.searchParams !== undefined) return
    warned.add(route)
    app.log.warn(
      `${plugin}: ${route} links to ${JSON.stringify(path)}, which no ${method} route serves. Add the route, or correct the path, which is relative to the version.`
    )
  }
}
