// Compiled, never run. Lines that must not compile are marked, and the compiler rejects a mark without an error.

import type { RouteLint } from '@concordat/plugin-kit/findings'
import versioning, { lints, type VersioningOptions } from '@concordat/versioning'
import type { FastifyPluginAsyncTypebox, TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { expectTypeOf } from 'expect-type'
import Fastify, { type FastifyPluginAsync, type RouteOptions } from 'fastify'
import fp from 'fastify-plugin'

const app = Fastify().withTypeProvider<TypeBoxTypeProvider>()
await app.register(versioning, { versions: { 1: { status: 'current' } } })

const Order = Type.Object({ id: Type.String(), quantity: Type.Integer() })

await app.apiVersion(1, async (v1) => {
  // The type provider applies inside a version.
  v1.get('/orders/:id', { schema: { params: Type.Object({ id: Type.String() }), response: { 200: Order } } }, async (request, reply) => {
    expectTypeOf(request.params).toEqualTypeOf<{ id: string }>()
    expectTypeOf(request.apiVersion).toEqualTypeOf<string>()
    if (request.params.id === 'old') return reply.moved('/orders/new')
    return { id: request.params.id, quantity: 1 }
  })
  v1.get('/baskets/:id', { schema: { response: { 200: Order } } }, (_request, reply) => {
    reply.moved('/orders/new')
  })
  // @ts-expect-error – the quantity is not a number
  v1.get('/carts/:id', { schema: { response: { 200: Order } } }, async () => ({ id: 'a', quantity: 'one' }))
  // @ts-expect-error – a redirect does not excuse a wrong resource
  v1.get('/crates/:id', { schema: { response: { 200: Order } } }, async (request, reply) => {
    if (request.url === '') return reply.moved('/orders/new')
    return { id: 'a' }
  })
  v1.post('/orders', { config: { waivers: { P2: 'a reason' }, operational: true }, schema: { body: Order } }, async ({ body }) => {
    expectTypeOf(body.quantity).toEqualTypeOf<number>()
    // @ts-expect-error – no such field
    return body.colour
  })
  // @ts-expect-error – a reason is a string
  v1.get('/lists', { config: { waivers: { P2: true } } }, async () => 'x')
})

// Modules of routes, with the types of Fastify and of a type provider.
const routes: FastifyPluginAsync = async (v1) => void v1.get('/orders', async () => [])
const typedRoutes: FastifyPluginAsyncTypebox = async (v1) => {
  v1.post('/orders', { schema: { body: Order } }, async ({ body }) => expectTypeOf(body.quantity).toEqualTypeOf<number>())
}
const optionalRoutes: FastifyPluginAsync<{ readonly audit?: boolean }> = async (v1, { audit }) => v1.log.info({ audit })
const plain = Fastify()
await app.apiVersion(1, routes)
await app.apiVersion(1, fp(routes))
await app.apiVersion(1, typedRoutes)
await app.apiVersion(1, optionalRoutes)
await plain.apiVersion(1, routes)
await plain.apiVersion(1, typedRoutes)
await Fastify({ https: {} }).apiVersion(1, typedRoutes)
await plain.apiVersion(1, async (v1) => {
  v1.get('/orders', async ({ body }) => expectTypeOf(body).toEqualTypeOf<unknown>())
})
const strictRoutes: FastifyPluginAsync<{ readonly audit: boolean }> = async (_v1, { audit }) => void audit
// @ts-expect-error – a version has no such option
void app.apiVersion(1, strictRoutes)
// @ts-expect-error – the routes get an instance
void app.apiVersion(1, async (v1: number) => void v1)
// @ts-expect-error – a version is a number
void app.apiVersion('1', async () => {})
// @ts-expect-error – a version's routes are registered by an async function
void app.apiVersion(1, () => {})
// @ts-expect-error – the path is missing
app.get('/x', (_request, reply) => reply.moved())

const options: VersioningOptions = {
  versions: {
    1: { deprecatedAt: '2027-01-01T00:00:00Z', sunsetAt: new Date(), documentation: 'https://example.com/migration', successor: 2 },
    2: {}
  }
}
void options
// @ts-expect-error – a status other than current follows from the dates
const stated: VersioningOptions = { versions: { 1: { status: 'deprecated' } } }
void stated
// @ts-expect-error – an end must be complete
const half: VersioningOptions = { versions: { 1: { deprecatedAt: '2027-01-01T00:00:00Z' } } }
void half

type LintedRoute = Parameters<(typeof lints)[number]['check']>[0]
expectTypeOf(lints).toEqualTypeOf<readonly RouteLint<LintedRoute>[]>()
expectTypeOf(lints[0]?.check).toBeCallableWith({} as RouteOptions)
expectTypeOf(lints[0]?.check({ method: 'GET', url: '/v1/orders' })).toEqualTypeOf<string | undefined>()
