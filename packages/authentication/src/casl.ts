import type { AnyAbility } from '@casl/ability'
import type { Policy } from './policies.ts'
import type { Principal } from './principal.ts'

/** Settings of a policy that CASL decides. */
export interface CaslPolicyOptions {
  /**
   * As in `Policy`: who may not have an object is told 404.
   * @default false
   */
  readonly secret?: boolean | undefined
}

/**
 * A policy for the option `policies` that asks a CASL ability: the rules for the subject type `resource` and the action of the
 * permission. The object needs no tag and is not changed. `abilityOf` is asked once for each principal.
 *
 * @example
 * policies: { orders: caslPolicy('orders', ({ subject }) => defineAbility((can) => can('read', 'orders', { customerId: subject }))) }
 */
export function caslPolicy<Resource extends object>(
  resource: string,
  abilityOf: (principal: Principal) => AnyAbility,
  { secret = false }: CaslPolicyOptions = {}
): Policy<Resource> {
  // Principals are shared by all requests with the same credential, and go when their credential is forgotten.
  const abilities = new WeakMap<Principal, AnyAbility>()
  return {
    secret,
    allows(principal, action, object) {
      let ability = abilities.get(principal)
      if (ability === undefined) {
        ability = abilityOf(principal)
        abilities.set(principal, ability)
      }
      // What ability.can() does, without its guess of the type from the object's constructor.
      const rule = ability.rulesFor(action, resource).find((candidate) => candidate.matchesConditions(object))
      return rule !== undefined && !rule.inverted
    }
  }
}
