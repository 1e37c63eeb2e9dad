import { checkAtStart } from '@concordat/plugin-kit/findings'
import { contractLater } from '@concordat/plugin-kit/wiring'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Collection } from '../collection.ts'
import { type Relation, type RequestedRelations, splitRelated } from '../list/related.ts'
import { permissionsOf } from '../query/include-reader.ts'
import { splitsAtSemicolon, splitTarget } from '../query/query-string.ts'

/**
 * Returns who may use the relations of a route. A relation stops the start if nothing checks its permission, and if a policy decides about single objects
 * of the others while the relation does not say which rows a client may see.
 */
export function relationAccess(app: FastifyInstance, route: string, { relations, filters }: Pick<Collection, 'relations' | 'filters'>) {
  const clients = contractLater(app, 'clients')
  const filtered = [...filters.keys()].flatMap((name) => {
    const [relation = '', field = ''] = splitRelated(name, relations) ?? []
    const found = relations.get(relation)
    return found === undefined ? [] : [{ name, field, relation: found }]
  })
  // A name that is written with escapes counts as not used, so the filter does not exist for its client.
  const used = new RegExp(`(?:^|&)(?:${[...relations.keys()].join('|')})(?:\\.|%2e)`, 'i')
  const semicolon = splitsAtSemicolon(app.initialConfig)
  if ([...relations.values()].some(isRestricted)) checkAtStart(app, requireRules)
  return { admit, refusedFilters }

  /** Rejects with 403 for a relation whose permission the client does not have. */
  async function admit(request: FastifyRequest, requested: RequestedRelations) {
    const permissions = permissionsOf(relations, requested)
    if (permissions.length > 0) await clients()?.requirePermissions(request, permissions)
  }

  /** Returns the filters that do not exist for the client, because it may not read the relation or the field. */
  function refusedFilters(request: FastifyRequest): readonly string[] | Promise<readonly string[]> {
    const unread = () => filtered.filter(({ field, relation: { target } }) => target.readable?.(request, field) === false)
    const restricted = filtered.filter(({ relation }) => isRestricted(relation))
    const isUsed = restricted.length > 0 && used.test(splitTarget(request.raw.url as string, semicolon).query)
    if (!isUsed) return namesOf([...unread(), ...restricted])
    // On a public route, the client is known after its permissions were checked.
    return refused(request, restricted).then((without) => namesOf([...unread(), ...without]))
  }

  async function refused(request: FastifyRequest, restricted: typeof filtered) {
    const allowed = new Set<string>()
    for (const permission of new Set(restricted.map(({ relation }) => relation.permission)))
      if (await isAllowed(request, permission)) allowed.add(permission)
    return restricted.filter(({ relation }) => !allowed.has(relation.permission))
  }

  async function isAllowed(request: FastifyRequest, permission: string) {
    try {
      await clients()?.requirePermissions(request, [permission])
      return true
    } catch (error) {
      const { statusCode } = error as { readonly statusCode?: unknown }
      if (statusCode !== 401 && statusCode !== 403) throw error
      return false
    }
  }

  function requireRules() {
    for (const [name, relation] of relations) {
      const { permission, source } = relation
      const where = `pagination-query: ${route}: the relation ${name}`
      if (!isRestricted(relation)) continue
      const known = clients()
      if (known === undefined)
        throw new TypeError(
          `${where} needs the permission "${permission}", which nothing checks. Register authentication, or set permission to "public".`
        )
      if (source === undefined && known.hasPolicy(permission))
        throw new TypeError(
          `${where} shows rows that a policy decides about, one by one. Set source, whose where leaves out what the policy of "${permission}" does not allow.`
        )
    }
  }
}

function isRestricted({ permission }: Relation) {
  return permission !== 'public'
}

function namesOf(filters: readonly { readonly name: string }[]): readonly string[] {
  return [...new Set(filters.map(({ name }) => name))]
}
