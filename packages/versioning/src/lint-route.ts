import { requireWaivers, type Waivers } from '@concordat/route-lints'
import { type LintedRoute, lints } from './lints.ts'
import type { Settings } from './options.ts'
import type { Places } from './places.ts'

/** Route with the lint settings of its `config`. */
export interface RegisteredRoute extends LintedRoute {
  readonly config?: { readonly operational?: boolean | undefined; readonly waivers?: Waivers | undefined } | undefined
}

/**
 * Throws an `Error` if a route of the API breaks rules; the message lists each broken rule with its fix. Throws a `TypeError` for an invalid waiver.
 * The rules about paths do not apply to operational routes.
 */
export function requireRules(route: RegisteredRoute, { otherRules }: Pick<Settings, 'otherRules'>): void {
  const name = nameOf(route)
  const waivers = route.config?.waivers ?? {}
  requireWaivers(`versioning: config.waivers of ${name}`, waivers, [...lints.map(({ id }) => id), ...otherRules()])
  if (route.config?.operational === true) return

  const problems = lints.flatMap((lint) => {
    const problem = Object.hasOwn(waivers, lint.id) ? undefined : lint.check(route)
    return problem === undefined ? [] : [`${lint.id}: ${problem}`]
  })
  if (problems.length > 0) {
    throw new Error(`versioning: ${name} breaks the path rules. ${problems.join(' ')} Or waive a rule with config.waivers and the reason.`)
  }
}

/**
 * Throws an `Error` if a route outside the versions has a path below a version: its responses would have no deprecation headers and it would never
 * be retired. Other routes outside the versions are ordinary Fastify routes.
 */
export function requireOtherPath(route: RegisteredRoute, places: Places): void {
  if (places.find(route.url) === undefined || Object.hasOwn(route.config?.waivers ?? {}, 'P1')) return
  throw new Error(
    `versioning: ${nameOf(route)} has the path of a version, but is not registered through app.apiVersion(n, …). Register it there, or waive P1 with config.waivers and the reason.`
  )
}

function nameOf({ method, url }: RegisteredRoute) {
  return `${String(method)} ${url}`
}
