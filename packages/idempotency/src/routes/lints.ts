import type { RouteLint } from '@concordat/plugin-kit/findings'

/** The part of a route that a lint reads; Fastify's route options satisfy it. */
export interface LintedRoute {
  readonly method: string | readonly string[]
  readonly config?: { readonly idempotency?: unknown } | undefined
}

/** The lints of this package: every POST and PATCH route must declare whether it accepts keys. */
export const lints: readonly RouteLint<LintedRoute>[] = [{ id: 'I1', check: declaresKeys }]

function declaresKeys({ method, config }: LintedRoute) {
  const needsOne = [method].flat().some((one) => one === 'POST' || one === 'PATCH')
  if (!needsOne || config?.idempotency !== undefined) return undefined
  return 'it does not say whether it accepts idempotency keys. Set config.idempotency to "required", "accepted" or "off".'
}
