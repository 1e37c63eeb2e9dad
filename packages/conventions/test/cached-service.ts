// A service on the preset with public, personal and changing resources, and a client that decodes every coding.
import { type IncomingHttpHeaders, request as requestHttp } from 'node:http'
import type { AddressInfo } from 'node:net'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { ownTokens } from '@concordat/authentication'
import { testKit } from '@concordat/authentication/testing'
import conventions, { type ConventionsOptions, serverOptions } from '@concordat/conventions'
import Fastify, { type FastifyContextConfig, type FastifyInstance, type FastifyRequest } from 'fastify'
import type { Test } from 'tap'

const issuer = 'https://tokens.example.com'
const kit = testKit({ issuer, audience: 'shop' })
const text = { type: 'string' }
const Product = { type: 'object', required: ['id', 'name', 'description'], properties: { id: text, name: text, description: text } }
const Category = { type: 'object', required: ['id', 'name'], properties: { id: text, name: text } }
const Profile = { type: 'object', required: ['subject'], properties: { subject: text } }

/** Returns the credentials of a user. */
export function credentialsOf(subject: string): { authorization: string } {
  return { authorization: `Bearer ${kit.token({ sub: subject, roles: ['customer'] })}` }
}

const idOf = (request: FastifyRequest) => (request.params as { id: string }).id

/** Returns the service, not yet listening, and how often each path has reached its handler. */
export async function cachedService(
  options: Partial<ConventionsOptions> = {}
): Promise<{ app: FastifyInstance; runs: Map<string, number> }> {
  const runs = new Map<string, number>()
  const products = new Map<string, { id: string; name: string; description: string; version: number }>()
  // Each test has its own resources: those with a size in their id exist from the start.
  const find = (id: string) => {
    const [, size] = /^(large|small)-/.exec(id) ?? []
    return products.get(id) ?? (size && { id, name: 'Chai', description: 'black tea '.repeat(size === 'large' ? 300 : 1), version: 1 })
  }
  const app = Fastify(serverOptions({ trustProxy: ['127.0.0.1'] }))
  await app.register(conventions, {
    publicUrl: 'https://shop.example',
    versions: { 1: { status: 'current' } },
    authentication: {
      issuers: [ownTokens({ issuer, audience: 'shop', keys: kit.keys })],
      permissions: ['profiles:read'],
      roles: { customer: ['profiles:read'] }
    },
    ...options
  })
  app.addHook('preHandler', async ({ method, url }) => void runs.set(`${method} ${url}`, (runs.get(`${method} ${url}`) ?? 0) + 1))

  const isCaching = options.conditionalCaching !== false
  const cached: FastifyContextConfig = isCaching ? { cache: 'public' } : {}
  const validator = (request: FastifyRequest) => {
    const product = find(idOf(request))
    return product ? { exists: true, etag: product.version } : { exists: false }
  }
  await app.apiVersion(1, async (v1) => {
    v1.get(
      '/products/:id',
      { config: { public: true, ...(isCaching && { validator }) }, schema: { response: { 200: Product } } },
      async (request) => {
        const product = find(idOf(request))
        if (!product) throw Object.assign(new Error('no such product'), { statusCode: 404 })
        return product
      }
    )
    const written = { public: true, ...(isCaching && { validator }) }
    v1.put('/products/:id', { config: written, schema: { body: Product, response: { 200: Product } } }, async (request) => {
      const version = (validator(request).etag ?? 0) + 1
      const product = { ...(request.body as { id: string; name: string; description: string }), version }
      products.set(idOf(request), product)
      return product
    })
    v1.get('/categories/:id', { config: { public: true, ...cached }, schema: { response: { 200: Category } } }, async (request) => ({
      id: idOf(request),
      name: 'Beverages '.repeat(200)
    }))
    v1.get(
      '/profiles/:id',
      {
        config: { permissions: ['profiles:read'], ...cached, waivers: { C3: 'the test shows that private responses stay private' } },
        schema: { response: { 200: Profile } }
      },
      async (request) => ({
        subject: request.principal?.subject
      })
    )
  })
  return { app, runs }
}

/** Starts the same service, which listens until the test ends. */
export async function startCachedService(
  t: Test,
  options: Partial<ConventionsOptions> = {}
): Promise<{ port: number; runs: Map<string, number> }> {
  const { app, runs } = await cachedService(options)
  await app.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(() => app.close())
  return { port: (app.server.address() as AddressInfo).port, runs }
}

export interface Input {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

export interface ReceivedResponse {
  readonly status: number | undefined
  readonly headers: IncomingHttpHeaders
  /** Decoded, without its timestamp. */
  readonly body: string
}

/** Sends a request over HTTP, on its own connection. */
export function call(port: number, path: string, { method = 'GET', headers = {}, body }: Input = {}): Promise<ReceivedResponse> {
  const sent = body === undefined ? undefined : JSON.stringify(body)
  const typed = sent === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(sent) }
  const host = { host: 'shop.example', 'x-forwarded-proto': 'https' }
  return new Promise((resolve, reject) => {
    const request = requestHttp({ host: '127.0.0.1', port, path, method, headers: { ...host, ...typed, ...headers }, agent: false })
    request.on('error', reject).on('response', (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => {
        const plain = decoded(Buffer.concat(chunks), response.headers['content-encoding'])
        resolve({ status: response.statusCode, headers: response.headers, body: plain.replace(/"timestamp":"[^"]*"/, '') })
      })
    })
    request.end(sent)
  })
}

function decoded(bytes: Buffer, coding: string | undefined) {
  if (bytes.length === 0) return ''
  return (coding === 'br' ? brotliDecompressSync(bytes) : coding === 'gzip' ? gunzipSync(bytes) : bytes).toString()
}
