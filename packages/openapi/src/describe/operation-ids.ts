import { pascalCase } from '../document/words.ts'

/** An operation and the id that it wants: given by the author of the route, or generated, beginning with the verb. */
export interface OperationIdClaim {
  readonly method: string
  readonly path: string
  readonly wanted: string
  readonly verb: string
  readonly isGiven: boolean
}

/**
 * Returns the ids of operations by method and path. If several operations want the same id, the one that its author set comes first, and then the
 * usual shape of a path: `getOrder` is for `/orders/{id}`, and a GET of `/orders` that is not a list gets `getOrders`. So a route that is added
 * later leaves the ids of the others as they are.
 */
export function uniqueOperationIds(claims: readonly OperationIdClaim[]): ReadonlyMap<string, string> {
  const ids = new Map<string, string>()
  const taken = new Set<string>()
  for (const { method, path, wanted, verb } of claims.toSorted((a, b) => rankOf(a) - rankOf(b) || (a.path < b.path ? -1 : 1))) {
    let id = wanted
    for (let number = 1; taken.has(id); number += 1) id = number === 1 ? verb + wholePath(path) : `${wanted}${number}`
    taken.add(id)
    ids.set(`${method} ${path}`, id)
  }
  return ids
}

function rankOf({ isGiven, verb, path }: OperationIdClaim) {
  if (isGiven) return 0
  return ['list', 'create', 'search'].includes(verb) === path.endsWith('}') ? 2 : 1
}

// `OrdersById` for `/v1/orders/{id}`.
function wholePath(path: string) {
  const [, ...segments] = path.split(/\/v\d+\//)
  return pascalCase(segments.join('-').replaceAll('{', 'by-').replaceAll('/', '-'))
}
