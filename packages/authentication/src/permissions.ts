const permissionShape = /^[\w.-]+:[\w.-]+$/

/** What a token's or key's names give: the permissions of its own, those of its roles, and the roles. All sorted. */
export interface Grants {
  readonly permissions: readonly string[]
  readonly roles: readonly string[]
}

/** The permissions that exist, and what roles give of them. */
export interface PermissionTable {
  /** Throws a `TypeError` of one line that begins with `where` for a name that is not in the vocabulary. */
  requireKnown(where: string, names: readonly string[]): void
  /** Names that are neither a known permission nor a known role give nothing. */
  grants(names: readonly string[]): Grants
}

/**
 * Reads the vocabulary, `resource:action` each, and the roles, whose lists may say `orders:*` and `*:read` (rule U9).
 * Throws a `TypeError` of one line for a name that is no permission, and for a role with one that is not in the vocabulary.
 */
export function permissionTable(vocabulary: readonly string[], roles: Readonly<Record<string, readonly string[]>>): PermissionTable {
  for (const name of vocabulary) {
    if (!permissionShape.test(name))
      throw new TypeError(`authentication: permissions has "${name}". Write resource:action, as "orders:read".`)
  }
  const known = new Set(vocabulary)
  const table = new Map(
    Object.entries(roles).map(([role, patterns]) => [role, patterns.flatMap((pattern) => matching(role, pattern, known))])
  )

  return {
    requireKnown(where, names) {
      const unknown = names.find((name) => !known.has(name))
      if (unknown !== undefined)
        throw new TypeError(`${where} names the permission "${unknown}", which is not in the option permissions. Add it, or mend the name.`)
    },
    grants(names) {
      const held = names.filter((name) => table.has(name))
      const permissions = new Set([...names.filter((name) => known.has(name)), ...held.flatMap((role) => table.get(role) ?? [])])
      return Object.freeze({ permissions: Object.freeze([...permissions].toSorted()), roles: Object.freeze([...new Set(held)].toSorted()) })
    }
  }
}

function matching(role: string, pattern: string, known: ReadonlySet<string>) {
  if (pattern === '*:*')
    throw new TypeError(`authentication: the role ${role} has "*:*". Say what it may do: one side of a permission is named.`)
  const [resource, action, ...rest] = pattern.split(':')
  const found = [...known].filter((name) => {
    const [knownResource, knownAction] = name.split(':')
    return rest.length === 0 && (resource === '*' || resource === knownResource) && (action === '*' || action === knownAction)
  })
  if (found.length === 0)
    throw new TypeError(
      `authentication: the role ${role} has "${pattern}", which is no permission of the option permissions. Mend one of them.`
    )
  return found
}
