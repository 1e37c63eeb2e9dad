import { pascalCase } from './words.ts'

/** An operation and the id that it wants. */
export interface OperationIdClaim {
  /** The method in lower case. */
  readonly method: string
  readonly path: string
  readonly wanted: string
  /** The verb with which a generated id begins. */
  readonly verb: string
  /** Whether the author of the route set the id. */
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
    const candidates = [wanted, verb + wholePath(path)]
    let id = candidates.find((one) => !taken.has(one))
    for (let number = 2; id === undefined; number += 1) if (!taken.has(`${wanted}${number}`)) id = `${wanted}${number}`
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
