import { type LintedRoute as CachedRoute, lints as cachingLints } from '@concordat/conditional-caching'
import { lints as idempotencyLints, type LintedRoute as KeyedRoute } from '@concordat/idempotency'
import { onEachRoute, type RouteLint, reportBrokenRules } from '@concordat/plugin-kit/findings'
import { contribute, isOutside, waiveForService } from '@concordat/plugin-kit/wiring'
import type { FastifyInstance, RouteOptions } from 'fastify'
import type { Settings } from './options.ts'

// A route may waive them even if their plugins are left out.
const rules = [...cachingLints, ...idempotencyLints].map(({ id }) => id)

/**
 * Reports, with the fix, every API route that breaks a caching or idempotency rule, unless the route waives the rule.
 * Versioning, pagination-query and openapi run their own lints.
 */
export function requireRouteRules(app: FastifyInstance, options: Settings): void {
  const lints: readonly RouteLint<CachedRoute & KeyedRoute>[] = [
    ...(options.conditionalCaching === false ? [] : cachingLints),
    ...(options.idempotency === false ? [] : idempotencyLints)
  ]
  contribute(app, 'rules', rules)
  waiveForService(app, 'conventions: options.waivers', options.waivers)
  onEachRoute(app, lintRoute)

  function lintRoute(this: FastifyInstance, route: RouteOptions) {
    if (route.config?.operational === true || isOutside(this, route)) return
    const name = `${String(route.method)} ${route.url}`
    for (const { id, check } of lints) {
      const problem = check(route)
      if (problem === undefined) continue
      const line = `conventions: ${name} breaks rule ${id}: ${problem} Or waive ${id} with config.waivers and the reason.`
      reportBrokenRules(this, route, [{ id }], () => new Error(line))
    }
  }
}
