import { type RouteLint, reportBrokenRules, type Waivers } from '@concordat/plugin-kit/findings'
import { expectTypeOf } from 'expect-type'
import type { FastifyContextConfig, FastifyInstance, RouteOptions } from 'fastify'

declare const app: FastifyInstance
declare const route: RouteOptions

expectTypeOf<FastifyContextConfig['waivers']>().toEqualTypeOf<Waivers | undefined>()
expectTypeOf<RouteLint<RouteOptions>['check']>().toEqualTypeOf<(route: RouteOptions) => string | undefined>()
reportBrokenRules(app, route, [{ id: 'P1', problem: 'wrong' }], (remaining) => {
  expectTypeOf(remaining).toEqualTypeOf<readonly { id: string; problem: string }[]>()
  return new Error('wrong')
})
// @ts-expect-error a rule has an id
reportBrokenRules(app, route, [{ problem: 'wrong' }], () => new Error('wrong'))
