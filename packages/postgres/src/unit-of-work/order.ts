const before = '@concordat/conditional-caching'
const after = ['@concordat/idempotency', '@fastify/compress']

/**
 * Throws a `TypeError` for an order of registration that cannot work: preconditions are inside the transaction, and the idempotency gate is outside it.
 * A response is tagged, then committed, then compressed. Returns the check of what is registered later.
 */
export function requireOrder(isRegistered: (name: string) => boolean): () => void {
  for (const name of after) {
    if (isRegistered(name)) throw new TypeError(`unit-of-work: ${name} must be registered after the unit of work. Register it later.`)
  }
  const wasRegistered = isRegistered(before)
  return () => {
    if (!wasRegistered && isRegistered(before))
      throw new TypeError(`unit-of-work: ${before} must be registered before the unit of work. Register it earlier.`)
  }
}
