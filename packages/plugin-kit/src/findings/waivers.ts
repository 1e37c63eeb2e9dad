/** Rules that do not apply, by id, each with the reason. */
export type Waivers = Readonly<Record<string, string>>

/** A lint that checks a rule on each route. `Route` is the part of a route that the rule reads; Fastify's route options satisfy it. */
export interface RouteLint<Route> {
  /** The id of the rule, which a waiver names. */
  readonly id: string
  /** Returns what is wrong and how to fix it, or undefined when the route follows the rule. */
  readonly check: (route: Route) => string | undefined
}

/**
 * Requires that each waiver names a known rule and has a reason. `where` is the beginning of the message:
 * `versioning: config.waivers of GET /v1/orders`. Throws a `TypeError` of one line.
 */
export function requireWaivers(where: string, waivers: Readonly<Record<string, unknown>>, knownIds: readonly string[]): void {
  for (const [id, reason] of Object.entries(waivers)) {
    if (!knownIds.includes(id))
      throw new TypeError(`${where} waives "${id}", which is not a known rule. Use one of ${knownIds.join(', ')}.`)
    if (typeof reason !== 'string' || reason.trim() === '')
      throw new TypeError(`${where} waives ${id} without a reason. Add the reason: { ${id}: 'why it does not apply' }.`)
  }
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Rules that do not apply to this route, by id, each with the reason. */
    waivers?: Waivers | undefined
  }
}
