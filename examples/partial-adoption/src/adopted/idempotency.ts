import idempotency, { type IdempotencyStore } from '@concordat/idempotency'
import type { FastifyInstance } from 'fastify'

/** Runs retries with an `Idempotency-Key` once, on the routes of a context that accept keys. */
export async function adoptIdempotency(context: FastifyInstance, store: IdempotencyStore): Promise<void> {
  // Return what identifies your client here, such as the id of the account.
  await context.register(idempotency, { store, scope: () => 'everyone' })
}
