import type { AddressInfo } from 'node:net'
import { pathToFileURL } from 'node:url'
import conventions, { type ConventionsOptions, defineErrors, serverOptions } from '@concordat/conventions'
import { descriptionDigest } from '@concordat/openapi/diff'
import { collection } from '@concordat/pagination-query'
import { Type } from '@sinclair/typebox'
import Fastify, { type FastifyContextConfig, type FastifyInstance, type FastifyServerOptions, type RouteShorthandOptions } from 'fastify'
import t from 'tap'

// oxlint-disable-next-line typescript/no-explicit-any
type Loose = any

const Order = Type.Object({ id: Type.String({ format: 'uuid' }), note: Type.String({ maxLength: 40 }) })
const params = Type.Object({ id: Type.String() })
const errors = defineErrors({ ORDER_TAKEN: { statusCode: 409, message: { en: 'Taken.', es: 'Tomado.' }, remedy: 'Wait.' } })
const orders = (options: object = {}) =>
  collection(Order)({ name: 'orders', style: 'page', id: 'id', defaultSort: ['id'], sort: { keys: ['id'] }, ...options })
const paginationQuery = { cursor: { secrets: ['fJ2mYp7Qw4Zt9LxN8vBc3KdR6sHg1TaE'] } }
const ending = { deprecatedAt: '2026-11-01T00:00:00Z', sunsetAt: '2030-12-31T00:00:00Z', documentation: 'https://docs.example/v2' }

interface Deployment {
  readonly server?: FastifyServerOptions
  readonly options?: ConventionsOptions
  readonly list?: RouteShorthandOptions & { readonly config?: object }
  readonly create?: RouteShorthandOptions & { readonly config?: object }
  readonly createPath?: string
  readonly routes?: (v1: FastifyInstance) => void
}

/** Starts a service, and returns its address. */
async function started({ server, options, list, create, createPath = '/orders', routes = () => {} }: Deployment) {
  const app = Fastify({ ...serverOptions(), ...server })
  t.teardown(() => app.close())
  await app.register(conventions, {
    publicUrl: 'https://shop.example',
    versions: { 1: ending, 2: {} },
    transportSecurity: { dangerouslyAllowHttp: 'loopback' },
    authentication: false,
    idempotency: { scope: () => 'a' },
    errorCatalogue: { include: [errors] },
    paginationQuery,
    ...options
  })
  for (const version of [1, 2])
    await app.apiVersion(version, async (v1) => {
      v1.get('/orders', { config: { collection: orders() }, schema: { response: { 200: Type.Array(Order) } }, ...list }, async () => [])
      v1.get('/orders/:id', { schema: { params, response: { 200: Order } } }, async (request) => {
        const { id } = request.params as { id: string }
        return { id, note: '' }
      })
      v1.post(
        createPath,
        {
          config: { idempotency: 'accepted', openapi: { errors: ['ORDER_TAKEN'] } },
          schema: { body: Order, response: { 201: Order } },
          ...create
        },
        async (request) => request.body
      )
      routes(v1)
    })
  await app.listen({ port: 0, host: '127.0.0.1' })
  return `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
}

async function digestsOf(deployment: Deployment) {
  const address = await started(deployment)
  const read = async (version: string) => {
    const document = (await (await fetch(`${address}/${version}/openapi`)).json()) as Loose
    t.equal(document['x-digest'], descriptionDigest(document))
    return document['x-digest'] as string
  }
  return [await read('v1'), await read('v2')]
}

const usual = await digestsOf({})

t.test('a description has the same digest in all deployments of a release', async (t) => {
  t.not(usual[0], usual[1], 'the paths differ')
  const cases: Record<string, Deployment> = {
    'another address': { options: { publicUrl: 'https://other.example/shop' } },
    'no address': { options: { publicUrl: undefined } },
    'other dates': {
      options: {
        versions: {
          1: { deprecatedAt: '2031-01-01T00:00:00Z', sunsetAt: '2033-01-01T00:00:00Z', documentation: 'https://docs.example/new' },
          2: {}
        }
      }
    },
    'other limits of requests': { options: { rateLimiting: { addressLimit: { limit: 700, windowSeconds: 5 } } } },
    'other limits of the server': { server: { bodyLimit: 4096, routerOptions: { maxParamLength: 200 } } },
    'other limits of pages': { options: { paginationQuery: { ...paginationQuery, perPage: { default: 5, max: 50 }, maxOffset: 500 } } },
    'other texts': { options: { openapi: { title: 'Another', description: 'Other.', contact: { name: 'A' } } } },
    'other texts of an operation': {
      create: {
        config: { idempotency: 'accepted', openapi: { errors: ['ORDER_TAKEN'] } },
        schema: { body: Order, response: { 201: Order }, summary: 'Order', description: 'Order it.', tags: ['a'] }
      }
    }
  }
  for (const [name, deployment] of Object.entries(cases)) t.strictSame(await digestsOf(deployment), usual, name)
})

t.test('every change of a path, a schema, a status or a code changes the digest', async (t) => {
  const config: FastifyContextConfig = { idempotency: 'accepted', openapi: { errors: ['ORDER_TAKEN'] } }
  const Note = (schema: object) => ({ ...Order, properties: { ...Order.properties, note: schema } })
  const created = (schema: object) => ({ create: { config, schema: { body: Order, response: { 201: schema } } } })
  const sent = (schema: object) => ({ create: { config, schema: { body: schema, response: { 201: Order } } } })
  const cases: Record<string, Deployment> = {
    'a path': { createPath: '/sales' },
    'an added operation': {
      routes: (v1) =>
        v1.delete('/orders/:id', { schema: { params, response: { 204: Type.Null() } } }, async (_, reply) => reply.code(204).send())
    },
    'a type': sent(Note({ type: ['string', 'null'], maxLength: 40, description: 'Null: none.' })),
    'a bound': sent(Note({ type: 'string', maxLength: 41 })),
    'a format': sent(Note({ type: 'string', maxLength: 40, format: 'date' })),
    'an enumeration': sent(Note({ enum: ['a', 'b'] })),
    'a default': sent(Note({ type: 'string', maxLength: 40, default: 'a' })),
    'a required member': sent({ ...Order, required: ['id'] }),
    'a member of a response': created({ ...Order, properties: { ...Order.properties, total: { type: 'string' } } }),
    'a member with the name of a keyword': created({ ...Order, properties: { ...Order.properties, description: { type: 'string' } } }),
    'a status': { create: { config, schema: { body: Order, response: { 200: Order } } } },
    'a code': { create: { config: { idempotency: 'accepted' }, schema: { body: Order, response: { 201: Order } } } },
    'a key': { create: { config: { ...config, idempotency: 'required' }, schema: { body: Order, response: { 201: Order } } } },
    'a filter': {
      list: { config: { collection: orders({ filter: { note: ['eq'] } }) }, schema: { response: { 200: Type.Array(Order) } } }
    },
    'a sort': {
      list: { config: { collection: orders({ sort: { keys: ['id', 'note'] } }) }, schema: { response: { 200: Type.Array(Order) } } }
    }
  }
  const seen = new Map([[usual[1], 'nothing']])
  for (const [name, deployment] of Object.entries(cases)) {
    const [, digest] = await digestsOf(deployment)
    t.equal(seen.get(digest), undefined, name)
    seen.set(digest, name)
  }
})

t.test('responses of a version name the digest of its released description, where one is stored', async (t) => {
  const [, stored = ''] = usual
  const folder = t.testdir({ 'digests.json': JSON.stringify({ v2: stored }) })
  for (const released of [folder, pathToFileURL(folder), pathToFileURL(`${folder}/`)]) {
    const address = await started({ options: { openapi: { released } } })
    const headerOf = async (path: string, init?: RequestInit) => (await fetch(address + path, init)).headers.get('description-digest')
    t.equal(await headerOf('/v2/orders'), stored)
    t.equal(
      await headerOf('/v2/orders', { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } }),
      stored,
      'an error'
    )
    t.equal(await headerOf('/v1/orders'), null, 'this version has no released description')
    t.equal(await headerOf('/other'), null)
    const document = (await (await fetch(`${address}/v2/openapi`)).json()) as Loose
    t.equal(document['x-digest'], stored, 'the header itself changes nothing')
    t.match(document.paths['/v2/orders'].get.responses['200'].headers, { 'Description-Digest': {} })
  }
  const address = await started({})
  t.equal((await fetch(`${address}/v2/orders`)).headers.get('description-digest'), null, 'nothing is stored')
})
