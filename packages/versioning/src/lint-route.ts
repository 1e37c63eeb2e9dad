import { type LintedRoute, lints } from './lints.ts'
import type { Settings } from './options.ts'

/** Route with the lint settings of its `config`. */
export interface RegisteredRoute extends LintedRoute {
  readonly config?: { readonly operational?: boolean; readonly waivers?: Readonly<Record<string, string>> } | undefined
}

/**
 * Throws an `Error` that lists every rule that the route breaks, its path and how to fix it. Also rejects a waiver without a reason.
 * `inVersion` is true if the route was registered through `app.apiVersion`.
 */
export function requireRules(
  route: RegisteredRoute,
  inVersion: boolean,
  { otherRules, exceptPrefixes }: Pick<Settings, 'otherRules' | 'exceptPrefixes'>
): void {
  const name = `${String(route.method)} ${route.url}`
  const waivers = route.config?.waivers ?? {}
  requireReasons(name, waivers, otherRules)
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

function requireReasons(name: string, waivers: Readonly<Record<string, unknown>>, otherRules: readonly string[]) {
  const known = [...lints.map(({ id }) => id), ...otherRules]
  for (const [id, reason] of Object.entries(waivers)) {
    if (!known.includes(id))
      throw new Error(`versioning: config.waivers of ${name} waives "${id}", which is not a known rule. Use one of ${known.join(', ')}.`)
    if (typeof reason !== 'string' || reason.trim() === '')
      throw new Error(`versioning: config.waivers of ${name} waives ${id} without a reason. Write: { ${id}: 'why' }.`)
  }
}

// The path looks right, but its responses would have no deprecation headers and the route would never be retired.
function registeredElsewhere(inVersion: boolean) {
  return inVersion ? undefined : 'it is not registered through app.apiVersion(n, …). Register it there.'
}
