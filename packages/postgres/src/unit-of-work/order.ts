/** The plugins whose place is fixed: what shapes an answer or checks preconditions comes before, what keeps or compresses it after. */
const before = ['@concordat/conditional-caching']
const after = ['@concordat/idempotency', '@fastify/compress']

/**
 * Refuses an order of registration that can't work. Route-level hooks and wrappers are stacked in that order: preconditions are inside of
 * the transaction and the idempotency gate outside; an answer is tagged, then committed, then compressed.
 */
export function requireOrder(isRegistered: (name: string) => boolean): () => void {
  for (const name of after) {
    if (isRegistered(name)) throw new TypeError(`unit-of-work: ${name} is registered already. Register it after the unit of work.`)
  }
  const missing = before.filter((name) => !isRegistered(name))
  return () => {
    for (const name of missing) {
      if (isRegistered(name)) throw new TypeError(`unit-of-work: ${name} is registered behind it. Register it before the unit of work.`)
    }
  }
}
