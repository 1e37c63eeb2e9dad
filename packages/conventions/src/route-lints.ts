import { type LintedRoute as CachedRoute, lints as cachingLints } from '@concordat/conditional-caching'
import { lints as idempotencyLints, type LintedRoute as KeyedRoute } from '@concordat/idempotency'
import { contribute, isOutside, type RouteLint } from '@concordat/plugin-wiring'
import type { FastifyInstance, RouteOptions } from 'fastify'
import type { Settings } from './options.ts'

// A route may waive them even if their plugins are left out.
const rules = [...cachingLints, ...idempotencyLints].map(({ id }) => id)

/**
 * Throws an `Error` with the fix for every API route that breaks a caching or idempotency rule, unless the route waives the rule.
 * Versioning, pagination-query and openapi run their own lints.
 */
export function requireRouteRules(app: FastifyInstance, options: Settings): void {
  const lints: readonly RouteLint<CachedRoute & KeyedRoute>[] = [
    ...(options.conditionalCaching === false ? [] : cachingLints),
    ...(options.idempotency === false ? [] : idempotencyLints)
  ]
  contribute(app, 'rules', rules)
  app.addHook('onRoute', lintRoute)

  function lintRoute(this: FastifyInstance, route: RouteOptions) {
    const { operational, waivers = {} } = route.config ?? {}
    if (operational === true || isOutside(this, route)) return
    for (const { id, check } of lints) {
      const problem = Object.hasOwn(waivers, id) ? undefined : check(route)
      if (problem !== undefined)
        throw new Error(
          `conventions: ${String(route.method)} ${route.url} breaks rule ${id}: ${problem} Or waive ${id} with config.waivers and the reason.`
        )
    }
  }
}
