import { authenticationRequired, insufficientPermission, resourceNotFound } from './errors.ts'
import type { PermissionTable } from './permissions.ts'
import type { Principal } from './principal.ts'

/** Decides about the loaded objects of one resource (rule U10). */
export interface Policy<Resource = unknown> {
  /**
   * Whether this principal, who has the permission `resource:action` in general, may do it with this object. Anything but `true` is no.
   * Synchronous, so that no handler can forget to wait for the answer: load what it needs first.
   */
  allows(principal: Principal, action: string, resource: Resource): boolean
  /**
   * Whether the existence of an object is secret: who may not have it is then told 404, as if it were not there.
   * @default false – 403
   */
  readonly secret?: boolean | undefined
}

/** Makes the function behind `request.authorize`. */
export function authorizer(policies: Readonly<Record<string, Policy>>, table: PermissionTable) {
  return function authorize<Resource>(principal: Principal | null, permission: string, resource: Resource | null | undefined): Resource {
    const [name = '', action = ''] = permission.split(':')
    const policy = Object.hasOwn(policies, name) ? policies[name] : undefined
    if (policy === undefined)
      throw new TypeError(`authorize("${permission}"): no policy decides about "${name}". Add it to the option policies.`)
    table.requireKnown('authorize()', [permission])
    if (principal === null) throw authenticationRequired()
    if (!principal.permissions.includes(permission)) throw insufficientPermission([permission])
    if (resource === null || resource === undefined) throw resourceNotFound()
    // A promise would be true to an if.
    const allowed: unknown = policy.allows(principal, action, resource)
    if (allowed !== true) throw policy.secret ? resourceNotFound() : insufficientPermission([permission])
    return resource
  }
}
