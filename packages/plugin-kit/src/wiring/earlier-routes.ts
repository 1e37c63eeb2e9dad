import type { FastifyInstance } from 'fastify'
import { checkAtStart } from '../findings/findings.ts'
import { contractOf, isRoot } from './wiring.ts'

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
  return printedRoutes(app.printRoutes()).map(({ method, url }) => ({ method, url }))
}

/**
 * Stops the start if routes below the prefix of `app` were registered before the plugin, which does not apply to them. In a child context, only
 * routes of that context count. Has no effect where routes outside the API are ordinary Fastify routes.
 */
export function requireNoEarlierRoutes(app: FastifyInstance, plugin: string): void {
  const earlier = printedRoutes(app.printRoutes()).filter(
    ({ method, url }) => method !== 'OPTIONS' && `${url}/`.startsWith(`${app.prefix}/`)
  )
  if (earlier.length === 0) return
  const missed = isRoot(app) ? () => earlier : ownRoutes(app, earlier)
  checkAtStart(app, () => {
    if (contractOf(app, 'belongsToApi') !== undefined) return
    const [route] = missed()
    if (route !== undefined)
      throw new Error(
        `${plugin}: ${route.method} ${route.url} was registered before the plugin, which has no effect on it. Await the registration of the plugin before you add routes, or register the plugin in a child context with its routes.`
      )
  })
}

let marks = 0

// A hook of a context also applies to its earlier routes, and the printed routes have the names of their hooks when the server is ready.
function ownRoutes(app: FastifyInstance, earlier: readonly PrintedRoute[]): () => PrintedRoute[] {
  marks += 1
  const mark = `earlierRoute${marks}`
  // This hook is free, because it runs only for errors.
  const hook = { [mark]: (...[, , , done]: [unknown, unknown, unknown, () => void]) => done() }[mark] as () => void
  app.addHook('onError', hook)
  return () => {
    const marked = printedRoutes(app.printRoutes({ includeHooks: true })).filter(({ hooks }) => hooks.includes(`"${mark}()"`))
    return earlier.filter(({ method, url, constraints }) =>
      marked.some((route) => route.method === method && route.url === url && route.constraints === constraints)
    )
  }
}

interface PrintedRoute extends RegisteredRoute {
  readonly constraints: string
  readonly hooks: string
}

// A route is on a line below that of the path before it, indented by its depth. The lines of its hooks, and of the same path with other methods
// or constraints, are below it, at the same depth.
function printedRoutes(tree: string): PrintedRoute[] {
  const path: string[] = []
  const lines = tree.split('\n').map((line) => {
    const [, indentation = '', text = ''] = /^([│├└─ ]*)(.*)$/.exec(line) as RegExpExecArray
    return { depth: indentation.length / 4, text }
  })
  return lines.flatMap(({ depth, text }, index) => {
    const [, segment = '', methods, constraints = ''] = /^(.*?)(?: \(([A-Z, -]+)\)( \{.*\})?)?$/.exec(text) as RegExpExecArray
    if (depth === 0 || text.startsWith('• ')) return []
    path.length = depth - 1
    path.push(segment === '(empty root node)' ? '' : segment)
    const url = path.join('')
    const end = lines.findIndex((line, other) => other > index && !line.text.startsWith('• '))
    const below = lines.slice(index + 1, end).map((line) => line.text)
    return methods === undefined ? [] : methods.split(', ').map((method) => ({ method, url, constraints, hooks: below.join() }))
  })
}
