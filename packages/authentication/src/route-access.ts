import type { FastifyContextConfig } from 'fastify'
import type { PermissionTable } from './permissions.ts'

/** The access to a route: public, whatever credentials a request has, or only with all of these permissions. */
export type RouteAccess = 'public' | readonly string[]

/** The access to a route, or `anonymous`: public, but credentials that a request has must be valid. */
export type CheckedAccess = RouteAccess | 'anonymous'

export interface DeclaringRoute {
  readonly method: string | readonly string[]
  readonly url: string
  readonly config?: Pick<FastifyContextConfig, 'permissions' | 'public' | 'operational' | 'tenant'> | undefined
}

/** The access that rejects every request, for a route that does not declare its access. */
export const nobody: RouteAccess = Object.freeze([''])

/** Creates the reader of declared access. Throws a `TypeError` of one line for an invalid entry of `outside`. */
export function accessReader(outside: Readonly<Record<string, RouteAccess>>, table: PermissionTable) {
  const declared = Object.entries(outside).map(([path, access]) => {
    const where = `options.outside["${path}"]`
    if (!/^\/[^*]*$|^\/(?:[^*]+\/)?\*$/.test(path))
      throw new TypeError(
        `authentication: ${where} must be a path such as "/metrics", or one that ends in "/*" to include all paths below it, such as "/docs/*".`
      )
    return { path, access: access === 'public' ? access : permissionsOf(where, access) }
  })
  const longestFirst = declared.toSorted((a, b) => b.path.length - a.path.length)

  function permissionsOf(where: string, permissions: readonly string[]) {
    if (!Array.isArray(permissions) || permissions.length === 0)
      throw new TypeError(`authentication: ${where} must list at least one permission in an array, or be public.`)
    table.requireKnown(where, permissions)
    return Object.freeze([...permissions])
  }

  return {
    /**
     * Returns the access that the `config` of a route declares, or undefined if it declares none. A public route of the API refuses invalid
     * credentials, unless its config says otherwise; a public route outside the API and an operational route ignore credentials. Throws a
     * `TypeError` of one line for a declaration that is contradictory or invalid, or names an unknown permission (rule U10).
     */
    ofConfig(route: DeclaringRoute, isOutside: boolean): CheckedAccess | undefined {
      const { permissions, public: isPublic, operational } = route.config ?? {}
      const where = nameOf(route)
      if (![undefined, true, false, 'ignoring-credentials'].includes(isPublic))
        throw new TypeError(`authentication: ${where}: public must be true, false or 'ignoring-credentials'.`)
      if (permissions === undefined) {
        if (isPublic === undefined || isPublic === false) return undefined
        return isPublic === true && !isOutside && operational !== true ? 'anonymous' : 'public'
      }
      if (isPublic !== undefined && isPublic !== false)
        throw new TypeError(`authentication: ${where} must not declare both permissions and public: true. Remove one of them.`)
      return permissionsOf(where, permissions)
    },
    /** Returns the access that the option `outside` declares for a path, or undefined if it declares none. */
    outside(url: string): RouteAccess | undefined {
      const path = withoutTrailingSlash(url)
      return longestFirst.find((one) => covers(one.path, path))?.access
    }
  }
}

// "/*" covers only the wildcard at the root, so that it makes no other route public by accident.
function covers(declared: string, path: string) {
  if (declared === '/*') return path === '/*' || path === '*'
  if (declared.endsWith('/*')) return `${path}/`.startsWith(declared.slice(0, -1))
  return withoutTrailingSlash(declared) === path
}

function withoutTrailingSlash(path: string) {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
}

/** Returns the methods and the path of a route, for messages. */
export function nameOf({ method, url }: DeclaringRoute): string {
  return `${[method].flat().join(', ')} ${url}`
}

/** Returns the error message for an API route that does not declare its access. */
export function undeclared(route: DeclaringRoute): string {
  return `authentication: ${nameOf(route)} does not declare who may use it. Set config.permissions, or config.public: true.`
}

/** Returns the error message for other routes that do not declare their access, with the entries to add to the option `outside`. */
export function undeclaredOutside(urls: Iterable<string>): string {
  const paths = [...urls]
  const lines = paths.map((path) => `'${path}': 'public'`).join(', ')
  const [verb, object] = paths.length === 1 ? ['does', 'it'] : ['do', 'them']
  return `authentication: ${paths.join(', ')} ${verb} not declare who may use ${object}. Set config.permissions, or config.public: true, or for routes of other plugins add to options.outside, with 'public' or with permissions: ${lines}.`
}
