// Compiled, never run. Lines that must not compile are marked, and the compiler rejects a mark without an error.

import type { ErrorList } from '@concordat/api-error'
import type { RouteLint } from '@concordat/route-lints'
import versioning, { lints, type VersioningOptions, versioningErrors, versionPrefix } from '@concordat/versioning'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { expectTypeOf } from 'expect-type'
import Fastify, { type RouteOptions } from 'fastify'

const app = Fastify().withTypeProvider<TypeBoxTypeProvider>()
await app.register(versioning, { versions: { 1: { status: 'current' } } })

const Order = Type.Object({ id: Type.String(), quantity: Type.Integer() })

await app.apiVersion(1, async (v1) => {
  // The type provider applies inside a version.
  v1.get('/orders/:id', { schema: { params: Type.Object({ id: Type.String() }), response: { 200: Order } } }, async (request, reply) => {
    expectTypeOf(request.params).toEqualTypeOf<{ id: string }>()
    expectTypeOf(request.apiVersion).toEqualTypeOf<string>()
    expectTypeOf(versionPrefix(request)).toEqualTypeOf<string>()
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
expectTypeOf(versioningErrors).toEqualTypeOf<ErrorList>()
