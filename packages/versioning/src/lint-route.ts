import { requireWaivers, type Waivers } from '@concordat/route-lints'
import { type LintedRoute, lints } from './lints.ts'
import type { Settings } from './options.ts'

/** Route with the lint settings of its `config`. */
export interface RegisteredRoute extends LintedRoute {
  readonly config?: { readonly operational?: boolean | undefined; readonly waivers?: Waivers | undefined } | undefined
}

/**
 * Throws an `Error` if the route breaks rules; the message lists each broken rule with its fix. Throws a `TypeError` for an invalid waiver.
 * `inVersion` is true if the route was registered through `app.apiVersion`.
 */
export function requireRules(
  route: RegisteredRoute,
  inVersion: boolean,
  { otherRules, exceptPrefixes }: Pick<Settings, 'otherRules' | 'exceptPrefixes'>
): void {
  const name = `${String(route.method)} ${route.url}`
  const waivers = route.config?.waivers ?? {}
  requireWaivers(`versioning: config.waivers of ${name}`, waivers, [...lints.map(({ id }) => id), ...otherRules])
  if (route.config?.operational === true || exceptPrefixes.some((prefix) => `${route.url}/`.startsWith(`${prefix}/`))) return

  const problems = lints.flatMap((lint) => {
    if (Object.hasOwn(waivers, lint.id)) return []
    const problem = lint.check(route) ?? (lint.id === 'P1' ? registeredElsewhere(inVersion) : undefined)
    return problem === undefined ? [] : [`${lint.id}: ${problem}`]
  })
  if (problems.length > 0) {
    throw new Error(`versioning: ${name} breaks the path rules. ${problems.join(' ')} Or waive a rule with config.waivers and the reason.`)
  }
}

// The path looks right, but its responses would have no deprecation headers and the route would never be retired.
function registeredElsewhere(inVersion: boolean) {
  return inVersion ? undefined : 'it is not registered through app.apiVersion(n, …). Register it there.'
}
