/** The JSON Schema of the name of a tenant. */
export const tenantSchema = { type: 'string', pattern: '^[\\w-]{1,64}$', maxLength: 64 } as const

const form = new RegExp(tenantSchema.pattern)

/** Returns whether a value is the name of a tenant: 1 to 64 letters of ASCII, digits, `-` and `_`, so that it needs no escaping in SQL or in a key. */
export function isTenant(value: unknown): value is string {
  return typeof value === 'string' && form.test(value)
}

/**
 * Throws a `TypeError` for a tenant that cannot be one, and for none in a service with tenants, where work is stored: `plugin` and `call` name the function,
 * such as `app.jobs.start()`, and `ofNone` what has no tenant.
 */
export function requireTenant(plugin: string, call: string, ofNone: string, tenant: string | null | undefined, hasTenants: boolean): void {
  if (tenant === undefined && hasTenants)
    throw new TypeError(
      `${plugin}: ${call} needs a tenant. Set \`tenant\`, for example to request.tenant, or to null for ${ofNone} of no tenant.`
    )
  if (tenant !== undefined && tenant !== null && !isTenant(tenant))
    throw new TypeError(`${plugin}: \`tenant\` of ${call} must be 1 to 64 characters of A-Z, a-z, 0-9, _ and -.`)
}

/** Returns a name within a tenant: another text for each tenant, and the name itself without one. The names of all tenants follow it in the order of bytes. */
export function inTenant(name: string, tenant: string | undefined): string {
  return tenant === undefined ? name : `${name}\n${tenant}`
}
