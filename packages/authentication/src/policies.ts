import { authenticationRequired, insufficientPermission, resourceNotFound } from './errors.ts'
import type { PermissionTable } from './permissions.ts'
import type { Principal } from './principal.ts'

/** Decides which actions are allowed on the loaded objects of a resource (rule U10). */
export interface Policy<Resource = unknown> {
  /**
   * Returns whether a principal that has the permission `resource:action` may perform the action on this object. Only `true` allows it.
   * Synchronous, so that no handler can forget to await the result: load the required data first.
   */
  allows(principal: Principal, action: string, resource: Resource): boolean
  /** Whether the existence of an object is secret, so that a denied request gets 404 instead of 403. */
  readonly secret?: boolean | undefined
}

/** Creates the function that implements `request.authorize`. */
export function authorizer(policies: Readonly<Record<string, Policy>>, table: PermissionTable) {
  return function authorize<Resource>(
    this: { readonly principal: Principal | null },
    permission: string,
    resource: Resource | null | undefined
  ): Resource {
    const { principal } = this
    const [name = '', action = ''] = permission.split(':')
    const policy = Object.hasOwn(policies, name) ? policies[name] : undefined
    if (policy === undefined)
      throw new TypeError(`authentication: authorize("${permission}") requires a policy for "${name}" in options.policies. Add it.`)
    table.requireKnown('authorize()', [permission])
    if (principal === null) throw authenticationRequired()
    if (!principal.permissions.includes(permission)) throw insufficientPermission([permission])
    if (resource === null || resource === undefined) throw resourceNotFound()
    // Compared with true, because a promise is truthy.
    const allowed: unknown = policy.allows(principal, action, resource)
    if (allowed !== true) throw policy.secret ? resourceNotFound() : insufficientPermission([permission])
    return resource
  }
}
