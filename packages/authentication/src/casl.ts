import type { AnyAbility } from '@casl/ability'
import { requireKnownNames } from '@concordat/plugin-options'
import type { Policy } from './policies.ts'
import type { Principal } from './principal.ts'

/** Options of {@link caslPolicy}. */
interface CaslPolicyOptions {
  /**
   * Whether a denied request gets 404 instead of 403, as if the object did not exist.
   * @default false
   */
  readonly secret?: boolean | undefined
}

/**
 * Returns a policy for the option `policies` that applies a CASL ability: the rules for the subject type `resource` and the action of
 * the permission. The object needs no subject tag and is not changed. `abilityOf` is called once for each principal.
 *
 * @example
 * policies: { orders: caslPolicy('orders', ({ subject }) => defineAbility((can) => can('read', 'orders', { customerId: subject }))) }
 */
export function caslPolicy<Resource extends object>(
  resource: string,
  abilityOf: (principal: Principal) => AnyAbility,
  options: CaslPolicyOptions = {}
): Policy<Resource> {
  requireKnownNames('authentication', options, { secret: true })
  const { secret = false } = options
  // All requests with the same credential share a principal, which is released when its credential leaves the cache.
  const abilities = new WeakMap<Principal, AnyAbility>()
  return {
    secret,
    allows(principal, action, object) {
      let ability = abilities.get(principal)
      if (ability === undefined) {
        ability = abilityOf(principal)
        abilities.set(principal, ability)
      }
      // Like ability.can(), which would detect the subject type from the object's constructor.
      const rule = ability.rulesFor(action, resource).find((candidate) => candidate.matchesConditions(object))
      return rule !== undefined && !rule.inverted
    }
  }
}
