/**
 * The keyword that marks a schema as that of a secret, `'x-secret': true`. Its member of a response is shown once: it is not logged, and not stored
 * for the replay of an idempotency key, so it must be optional.
 */
export const secretKeyword = 'x-secret'
