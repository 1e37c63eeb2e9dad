import type { PermissionTable } from './permissions.ts'

/** The access to a route: public, or only with all of these permissions. */
export type RouteAccess = 'public' | readonly string[]

/** The access that a route declares in its `config`. */
interface AccessConfig {
  readonly permissions?: readonly string[] | undefined
  readonly public?: boolean | undefined
}

/** Declares the access to all routes below a path that have no declaration of their own, such as the routes of other plugins. */
export interface Declaration extends AccessConfig {
  /** The path to which the declaration applies, including every path below, for example `/reference`. */
  readonly prefix: string
}

interface DeclaringRoute {
  readonly method: string | readonly string[]
  readonly url: string
  readonly config?: AccessConfig | undefined
}

/**
 * Creates the function that reads the declared access of a route. It throws an `Error` of one line that names the route, when the
 * declaration is missing, contradictory or invalid, or names a permission that does not exist (rule U10).
 */
export function accessReader(declared: readonly Declaration[], table: PermissionTable): (route: DeclaringRoute) => RouteAccess {
  for (const { prefix, ...config } of declared) {
    if (!/^\/.*[^/]$/.test(prefix))
      throw new TypeError(`authentication: options.declared contains the invalid prefix "${prefix}". Use a path such as "/reference".`)
    if (read(`options.declared "${prefix}"`, config) === undefined) throw new TypeError(undeclared(`options.declared "${prefix}"`))
  }
  const longestFirst = declared.toSorted((a, b) => b.prefix.length - a.prefix.length)

  function read(where: string, config: AccessConfig | undefined): RouteAccess | undefined {
    const { permissions, public: isPublic } = config ?? {}
    if (permissions === undefined) {
      if (isPublic !== undefined && typeof isPublic !== 'boolean')
        throw new TypeError(`authentication: ${where}: public must be true or false.`)
      return isPublic === true ? 'public' : undefined
    }
    if (isPublic === true)
      throw new TypeError(`authentication: ${where} must not declare both permissions and public: true. Remove one of them.`)
    if (!Array.isArray(permissions) || permissions.length === 0)
      throw new TypeError(`authentication: ${where} must list at least one permission in an array, or set public: true.`)
    table.requireKnown(where, permissions)
    return Object.freeze([...permissions])
  }

  return ({ method, url, config }) => {
    const where = `${[method].flat().join(', ')} ${url}`
    const own = read(where, config)
    if (own !== undefined) return own
    const declaration = longestFirst.find(({ prefix }) => `${url}/`.startsWith(`${prefix}/`))
    const found = declaration && read(where, declaration)
    if (found !== undefined) return found
    // A browser sends OPTIONS before it sends credentials, and the response only lists the allowed methods.
    if (method === 'OPTIONS') return 'public'
    throw new Error(undeclared(where))
  }
}

function undeclared(where: string) {
  return `authentication: ${where} does not declare who may use it. Set config.permissions, or config.public: true.`
}
