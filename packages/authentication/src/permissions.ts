// The description of a service publishes the limits, because the challenge of a 403 lists the permissions of the route.
const permissionShape = /^(?!.{129})[\w.-]+:[\w.-]+$/
const maxRequired = 32

/** The permissions that a token or API key grants, directly or through roles, and the roles themselves. All are sorted. */
export interface Grants {
  readonly permissions: readonly string[]
  readonly roles: readonly string[]
}

/** The permissions that exist, and those that roles grant. */
export type PermissionTable = ReturnType<typeof permissionTable>

/**
 * Creates the permission table from the vocabulary, whose permissions have the form `resource:action`, and the roles, whose lists may contain
 * patterns such as `orders:*` and `*:read` (rule U9). Throws a `TypeError` of one line for a malformed permission, and for a role with one that is
 * not in the vocabulary.
 */
export function permissionTable(vocabulary: readonly string[], roles: Readonly<Record<string, readonly string[]>>) {
  for (const name of vocabulary) {
    if (!permissionShape.test(name))
      throw new TypeError(
        `authentication: options.permissions contains the invalid name "${name}". Use the form resource:action, such as "orders:read", of at most 128 characters.`
      )
  }
  const known = new Set(vocabulary)
  const table = new Map(
    Object.entries(roles).map(([role, patterns]) => [role, patterns.flatMap((pattern) => matching(role, pattern, known))])
  )

  return {
    /** Throws a `TypeError` with a one-line message that names `where` if a permission is not in the vocabulary, or if there are more than 32. */
    requireKnown(where: string, names: readonly string[]) {
      if (names.length > maxRequired)
        throw new TypeError(
          `authentication: ${where} lists more than ${maxRequired} permissions. Replace some of them with one permission.`
        )
      const unknown = names.find((name) => !known.has(name))
      if (unknown !== undefined)
        throw new TypeError(
          `authentication: ${where} names the permission "${unknown}", which is not in options.permissions. Add it there, or correct the name.`
        )
    },
    /** Returns the grants of these permissions and roles. Unknown permissions and roles grant nothing. */
    grants(names: readonly string[]): Grants {
      const held = names.filter((name) => table.has(name))
      const permissions = new Set([...names.filter((name) => known.has(name)), ...held.flatMap((role) => table.get(role) ?? [])])
      return Object.freeze({ permissions: Object.freeze([...permissions].toSorted()), roles: Object.freeze([...new Set(held)].toSorted()) })
    }
  }
}

function matching(role: string, pattern: string, known: ReadonlySet<string>) {
  if (pattern === '*:*')
    throw new TypeError(`authentication: options.roles.${role} must not contain "*:*". Name the resource or the action.`)
  const [resource, action, ...rest] = pattern.split(':')
  const found = [...known].filter((name) => {
    const [knownResource, knownAction] = name.split(':')
    return rest.length === 0 && (resource === '*' || resource === knownResource) && (action === '*' || action === knownAction)
  })
  if (found.length === 0)
    throw new TypeError(
      `authentication: options.roles.${role} contains "${pattern}", which matches no permission in options.permissions. Correct one of them.`
    )
  return found
}
