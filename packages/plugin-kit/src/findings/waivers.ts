import { isObject } from '../json-schema/json-schema.ts'
import { value } from '../options/option-kinds.ts'

/** Rules that do not apply, by id, each with the reason. */
export type Waivers = Readonly<Record<string, string>>

/** A rule that a whole service does not follow yet: why, and the last day, such as `2027-06-30` (UTC). */
export interface ServiceWaiver {
  readonly reason: string
  readonly until: string
}

/** Rules that a whole service does not follow yet, by id. */
export type ServiceWaivers = Readonly<Record<string, ServiceWaiver>>

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

/** The kind of an option `waivers` for {@link waiveForService}. */
export const serviceWaivers = () => value<ServiceWaivers>({ default: {}, names: { '*': { reason: true, until: true } } })

/** Returns the reasons of waivers of a service, by id. */
export function reasonsOf(waivers: ServiceWaivers): Waivers {
  return Object.fromEntries(Object.entries(waivers).map(([id, { reason }]) => [id, reason]))
}

/** Returns whether the last day of a waiver is over, in UTC. */
export function hasEnded({ until }: ServiceWaiver): boolean {
  return Date.now() >= Date.parse(`${until}T24:00:00Z`)
}

/** Returns whether a value is a waiver with a reason and a day of the calendar. */
export function isServiceWaiver(value: unknown): value is ServiceWaiver {
  if (!isObject(value)) return false
  const { reason, until } = value
  return typeof reason === 'string' && reason.trim() !== '' && typeof until === 'string' && isDay(until)
}

function isDay(text: string) {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : Number.NaN
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Rules that do not apply to this route, by id, each with the reason. */
    waivers?: Waivers | undefined
  }
}
