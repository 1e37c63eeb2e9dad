import type { PermissionTable } from './permissions.ts'

/** What a route asks of its callers: nothing, or every one of these permissions. */
export type RouteAccess = 'public' | readonly string[]

/** What a route says about access in its `config`. */
export interface AccessConfig {
  readonly permissions?: readonly string[] | undefined
  readonly public?: boolean | undefined
}

/** Says about the routes below a path what they, made by somebody else, don't say themselves. */
export interface Declaration extends AccessConfig {
  /** A path, as `/reference`: for it and everything below it. */
  readonly prefix: string
}

interface DeclaringRoute {
  readonly method: string | readonly string[]
  readonly url: string
  readonly config?: AccessConfig | undefined
}

/**
 * Makes the function that reads what a route declares. It throws an `Error` of one line, naming the route, when it declares
 * nothing, both, nothing usable, or a permission that does not exist (rule U10).
 */
export function accessReader(declared: readonly Declaration[], table: PermissionTable): (route: DeclaringRoute) => RouteAccess {
  for (const { prefix, ...config } of declared) {
    if (!/^\/.*[^/]$/.test(prefix))
      throw new TypeError(`authentication: declared has the prefix "${prefix}". Write a path as "/reference".`)
    if (read(`declared "${prefix}"`, config) === undefined) throw new TypeError(undeclared(`declared "${prefix}"`))
  }
  const longestFirst = declared.toSorted((a, b) => b.prefix.length - a.prefix.length)

  function read(where: string, config: AccessConfig | undefined): RouteAccess | undefined {
    const { permissions, public: isPublic } = config ?? {}
    if (permissions === undefined) {
      if (isPublic !== undefined && typeof isPublic !== 'boolean') throw new TypeError(`${where} has a "public" that is no boolean.`)
      return isPublic === true ? 'public' : undefined
    }
    if (isPublic === true) throw new TypeError(`${where} declares permissions and public: true. Choose one.`)
    if (!Array.isArray(permissions) || permissions.length === 0)
      throw new TypeError(`${where} declares no permission. List at least one, or set public: true.`)
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
    // A browser asks by OPTIONS before it sends credentials, and the answer is only which methods there are.
    if (method === 'OPTIONS') return 'public'
    throw new Error(undeclared(where))
  }
}

function undeclared(where: string) {
  return `${where} does not say who may use it. Set config.permissions, or config.public: true.`
}
