import { authenticationRequired, insufficientPermission, resourceNotFound } from './errors.ts'
import type { PermissionTable } from './permissions.ts'
import type { Principal } from './principal.ts'

/** Decides which actions are allowed on the loaded objects of a resource (rule U10). */
export interface Policy<Resource = unknown> {
  /**
   * Returns whether a principal that has the permission `resource:action` may perform the action on this object. Only `true` allows it. A policy that
   * waits, for example for a query, returns a promise, and is asked by `request.authorizeAsync`; its rejection fails the request.
   */
  allows(principal: Principal, action: string, resource: Resource): boolean | Promise<boolean>
  /** Whether the existence of an object is secret, so that a denied request gets 404 instead of 403. */
  readonly secret?: boolean | undefined
}

interface Authorized {
  readonly principal: Principal | null
}

/** Creates the functions that implement `request.authorize` and `request.authorizeAsync`. */
export function authorizers(policies: Readonly<Record<string, Policy>>, table: PermissionTable) {
  // Returns what the policy says, and the resource or the error that follows from it.
  function ask<Resource>({ principal }: Authorized, permission: string, resource: Resource | null | undefined) {
    const [name = '', action = ''] = permission.split(':')
    const policy = Object.hasOwn(policies, name) ? policies[name] : undefined
    if (policy === undefined)
      throw new TypeError(`authentication: authorize("${permission}") requires a policy for "${name}" in options.policies. Add it.`)
    table.requireKnown('authorize()', [permission])
    if (principal === null) throw authenticationRequired()
    if (!principal.permissions.includes(permission)) throw insufficientPermission([permission])
    if (resource === null || resource === undefined) throw resourceNotFound()
    const decide = (allowed: unknown) => {
      if (allowed !== true) throw policy.secret ? resourceNotFound() : insufficientPermission([permission])
      return resource
    }
    return { name, allowed: policy.allows(principal, action, resource), decide }
  }

  function authorize<Resource>(this: Authorized, permission: string, resource: Resource | null | undefined): Resource {
    const { name, allowed, decide } = ask(this, permission, resource)
    if (!isPromise(allowed)) return decide(allowed)
    // Its rejection is of no interest any more.
    allowed.then(undefined, () => {})
    throw new TypeError(
      `authentication: the policy of "${name}" returned a promise, for which authorize() does not wait. Write: await request.authorizeAsync("${permission}", …).`
    )
  }

  async function authorizeAsync<Resource>(this: Authorized, permission: string, resource: Resource | null | undefined): Promise<Resource> {
    const { allowed, decide } = ask(this, permission, resource)
    return decide(await allowed)
  }

  return { authorize, authorizeAsync }
}

/** Returns whether a policy decides about single objects of the resource of a permission. */
export function hasPolicy(policies: Readonly<Record<string, Policy>>, permission: string): boolean {
  return Object.hasOwn(policies, permission.split(':')[0] as string)
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as Partial<PromiseLike<unknown>> | null | undefined)?.then === 'function'
}
