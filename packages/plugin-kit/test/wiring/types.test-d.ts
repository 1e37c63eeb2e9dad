import type { RouteLint, Waivers } from '@concordat/plugin-kit/findings'
import { expectTypeOf } from 'expect-type'
import Fastify, { type FastifyContextConfig, type RouteOptions } from 'fastify'

expectTypeOf<FastifyContextConfig['waivers']>().toEqualTypeOf<Waivers | undefined>()
Fastify().get('/health', { config: { operational: true, waivers: { P1: 'an old client' } } }, async () => ({}))
// @ts-expect-error: a waiver without a reason
Fastify().get('/health', { config: { waivers: { P1: true } } }, async () => ({}))
// Fastify's route options satisfy what a rule reads.
const lint: RouteLint<{ readonly url: string }> = { id: 'P1', check: ({ url }) => (url === '/' ? 'it is the root.' : undefined) }
expectTypeOf(lint.check).toBeCallableWith({} as RouteOptions)
