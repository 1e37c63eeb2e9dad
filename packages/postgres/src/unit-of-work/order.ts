/**
 * Plugins that must be registered before this plugin, because they shape a response or check preconditions; the plugins in `after` store or
 * compress the response.
 */
const before = ['@concordat/conditional-caching']
const after = ['@concordat/idempotency', '@fastify/compress']

/**
 * Throws a `TypeError` for an order of registration that cannot work. Route-level hooks and wrappers are stacked in that order:
 * preconditions are inside the transaction, and the idempotency gate is outside it. A response is tagged, then committed, then compressed.
 */
export function requireOrder(isRegistered: (name: string) => boolean): () => void {
  for (const name of after) {
    if (isRegistered(name)) throw new TypeError(`unit-of-work: ${name} must be registered after the unit of work. Register it later.`)
  }
  const missing = before.filter((name) => !isRegistered(name))
  return () => {
    for (const name of missing) {
      if (isRegistered(name)) throw new TypeError(`unit-of-work: ${name} must be registered before the unit of work. Register it earlier.`)
    }
  }
}
