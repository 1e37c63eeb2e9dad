/** One rule about routes. */
export interface Lint {
  /** The rule's id, by which a route may waive it. */
  readonly id: string
  /** Says what is wrong and how to mend it; `undefined` when nothing is. */
  readonly check: (route: LintedRoute) => string | undefined
}

/** What a lint reads of a route: Fastify's route options have it all. */
export interface LintedRoute {
  readonly method: string | readonly string[]
  readonly config?: { readonly idempotency?: unknown } | undefined
}

/** The rule that every POST and PATCH says whether it takes keys, for whoever collects such rules. */
export const lints: readonly Lint[] = [{ id: 'I1', check: declaresKeys }]

function declaresKeys({ method, config }: LintedRoute) {
  const needsOne = [method].flat().some((one) => one === 'POST' || one === 'PATCH')
  if (!needsOne || config?.idempotency !== undefined) return undefined
  return 'it does not say whether it takes idempotency keys. Set config.idempotency to "required", "accepted" or "off".'
}
