/**
 * Awaits the work, and if it violates a constraint that is listed in `errors` (SQLSTATE class 23), rejects with the error for that constraint:
 * `onViolation(database.query('INSERT …'), { customers_email_key: emailInUse })`. Rejects with any other error unchanged. In a transaction, the
 * failed statement has ended it: throw the error, and run no further statement.
 */
export async function onViolation<Result>(work: Promise<Result>, errors: Readonly<Record<string, () => Error>>): Promise<Result> {
  try {
    return await work
  } catch (thrown) {
    const { code, constraint } = (thrown ?? {}) as { readonly code?: unknown; readonly constraint?: unknown }
    const isViolation = typeof code === 'string' && code.startsWith('23') && typeof constraint === 'string'
    throw (isViolation && Object.hasOwn(errors, constraint) && errors[constraint]?.()) || thrown
  }
}
