// What the Fastify peers have in common: the routes with the same bodies as the preset sends, on `data` in memory or on PostgreSQL.
import { createHmac, hash, randomBytes, randomUUID } from 'node:crypto'
import { hash as hashPassword, verify as verifyPassword } from '@node-rs/argon2'
import {
  newOrderSchema,
  orderSchema,
  password,
  productSchema,
  products,
  productsById,
  publicUrl,
  secret,
  tokens,
  username
} from '../resources.ts'

const text = { type: 'string' }
const list = (items) => ({ type: 'array', items })
const record = (properties) => ({ type: 'object', required: Object.keys(properties), properties })
const links = list(record({ rel: text, href: text, method: text }))
export const envelope = (data, meta = {}) => record({ data, _links: links, _meta: record({ version: text, ...meta, timestamp: text }) })
const pagination = record({
  page: { type: 'integer' },
  perPage: { type: 'integer' },
  totalPages: { type: 'integer' },
  totalItems: { type: 'integer' }
})
// The cost that OWASP recommends, as the preset has it.
const argon2 = { algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1, outputLen: 32 }

export const serverOptions = { ajv: { customOptions: { coerceTypes: false, removeAdditional: false } } }

export function enveloped(method, url, data) {
  return {
    data,
    _links: [{ rel: 'self', href: publicUrl + url, method }],
    _meta: { version: 'v1', timestamp: new Date().toISOString() }
  }
}

export function failure(method, url, status, error, message, code, errors) {
  return {
    error: { status, error, message, code, ...(errors && { errors }) },
    _links: [{ rel: 'self', href: publicUrl + url, method }],
    _meta: { version: 'v1', timestamp: new Date().toISOString() }
  }
}

export const notFound = (method, url) =>
  failure(method, url, 404, 'Not Found', 'The resource was not found. Check the path and the identifiers in it.', 'RESOURCE_NOT_FOUND')
export const invalid = (method, url, errors) =>
  failure(
    method,
    url,
    422,
    'ValidationError',
    'Some values in the request are invalid. Fix the fields listed in `errors`.',
    'VALIDATION_FAILED',
    errors
  )

/** Returns the fields of the errors of Ajv in the wording of the preset. */
export const fields = (errors) =>
  errors.map(({ keyword, instancePath, params }) => ({
    field: `body${instancePath.replaceAll('/', '.')}`,
    message: keyword === 'type' ? `must be of type ${params.type}` : 'is invalid'
  }))

export function sign(claims, seconds = 900) {
  const issuedAt = Math.floor(Date.now() / 1000)
  const { kid, issuer: iss, audience: aud } = tokens
  const part = (value) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const signed = `${part({ alg: 'HS256', typ: 'at+jwt', kid })}.${part({
    iss,
    aud,
    iat: issuedAt,
    nbf: issuedAt,
    exp: issuedAt + seconds,
    jti: randomUUID(),
    ...claims
  })}`
  return `${signed}.${signature(signed)}`
}
const signature = (signed) => createHmac('sha256', secret).update(signed).digest('base64url')
export const bearer = () => ({ authorization: `Bearer ${sign({ sub: 'ada', scope: 'products:read orders:create' })}` })

/** Returns the claims of a token, or undefined. A valid token is remembered until it expires. */
export function verifier() {
  const known = new Map()
  return (header) => {
    const found = known.get(header)
    if (found !== undefined) return found.exp > Date.now() / 1000 ? found : undefined
    const token = header?.slice('Bearer '.length) ?? ''
    const at = token.lastIndexOf('.')
    if (at < 0 || signature(token.slice(0, at)) !== token.slice(at + 1)) return undefined
    const claims = JSON.parse(Buffer.from(token.split('.')[1], 'base64url').toString())
    if (claims.exp <= Date.now() / 1000 || claims.iss !== tokens.issuer || claims.aud !== tokens.audience) return undefined
    if (known.size >= 10_000) known.clear()
    known.set(header, claims)
    return claims
  }
}

/** Products, orders and users in memory. */
export async function inMemory() {
  const passwordHash = await hashPassword(password, argon2)
  const sessions = new Map()
  return {
    product: async (id) => productsById.get(id),
    products: async () => ({ rows: products }),
    order: async (_transaction, order) => ({ id: randomUUID(), ...order }),
    user: async (name) => (name === username ? { id: 'ada', passwordHash, scope: 'products:read orders:create' } : undefined),
    attempt: async () => {},
    session: async (handle, session) => void sessions.set(handle, session)
  }
}

/** A gate for keys without a lease, without waiting and without a store that can fail: the least that stores and replays responses. */
export function memoryKeys() {
  const responses = new Map()
  return {
    async run(request, work) {
      const key = hash('sha256', `ada ${request.headers['idempotency-key']}`, 'base64url')
      const fingerprint = hash('sha256', `${request.method} ${request.url} ${JSON.stringify(request.body)}`, 'base64url')
      const stored = responses.get(key)
      if (stored?.fingerprint === fingerprint && stored.body !== undefined) return { ...stored, isReplay: true }
      if (stored !== undefined) throw new Error('The key is in use.')
      responses.set(key, { fingerprint })
      const response = { fingerprint, ...(await work()) }
      responses.set(key, response)
      return response
    }
  }
}

/** Adds the routes. Without `keys`, an order needs no key. */
export function addRoutes(app, data, keys) {
  const order = envelope(orderSchema)
  app.get('/v1/products/:id', { schema: { response: { 200: envelope(productSchema) } } }, async (request, reply) => {
    const { version, ...product } = (await data.product(request.params.id)) ?? {}
    if (product.id === undefined) return reply.code(404).send(notFound('GET', request.url))
    if (version !== undefined) reply.header('etag', `"${version}"`)
    return enveloped('GET', request.url, product)
  })
  app.get(
    '/v1/products',
    { schema: { response: { 200: envelope(list(productSchema), data.isPaged && { pagination }) } } },
    async (request) => {
      const { rows, total } = await data.products(request.query.perPage)
      const response = enveloped('GET', request.url, rows)
      if (total === undefined) return response
      const page = (rel) => ({ rel, href: `${publicUrl}${request.url}&page=1`, method: 'GET' })
      response._links.push(page('first'), page('last'))
      response._meta = {
        version: 'v1',
        pagination: { page: 1, perPage: 50, totalPages: 1, totalItems: total },
        timestamp: response._meta.timestamp
      }
      return response
    }
  )
  const created = async (transaction, body) => {
    const { id, ...found } = await data.order(transaction, body)
    return { status: 201, location: `${publicUrl}/v1/orders/${id}`, body: enveloped('GET', `/v1/orders/${id}`, { id, ...found }) }
  }
  app.post('/v1/orders', { schema: { body: newOrderSchema, response: keys ? {} : { 201: order } } }, async (request, reply) => {
    if (keys === undefined) {
      const { location, body } = await created(undefined, request.body)
      return reply.code(201).header('location', location).send(body)
    }
    const { status, location, body, isReplay } = await keys.run(request, async (transaction) => {
      const response = await created(transaction, request.body)
      return { ...response, body: JSON.stringify(response.body) }
    })
    if (isReplay) reply.header('idempotency-replayed', 'true')
    reply.code(status).header('location', location).type('application/json; charset=utf-8')
    return reply.send(body)
  })
  const session = envelope(record({ accessToken: text, tokenType: text, expiresIn: { type: 'integer' }, refreshToken: text }))
  app.post(
    '/v1/tokens',
    { schema: { body: record({ username: text, password: text }), response: { 200: session } } },
    async (request, reply) => {
      const { username: name, password: sent } = request.body
      const forgive = await data.attempt(name, request.ip)
      const user = await data.user(name.toLowerCase())
      if (user === undefined || !(await verifyPassword(user.passwordHash, sent))) return reply.code(401).send({})
      await forgive?.()
      const [sid, token] = [randomUUID(), randomBytes(48).toString('base64url')]
      await data.session(hash('sha256', token, 'base64url'), { sid, sub: user.id })
      const accessToken = sign({ sid, sub: user.id, scope: user.scope, roles: user.roles ?? [] })
      return enveloped('POST', request.url, { accessToken, tokenType: 'Bearer', expiresIn: 900, refreshToken: `rt_${token}` })
    }
  )
  app.post('/v1/product-batches', async (request) => {
    const { authorization } = request.headers
    const outcomes = []
    for (const { id, method, path } of request.body.operations) {
      const { statusCode, body, headers } = await app.inject({ method, url: path, headers: { authorization } })
      const sent = ['request-id', 'content-type', 'etag'].filter((name) => name in headers).map((name) => [name, headers[name]])
      outcomes.push({ id, status: statusCode, headers: Object.fromEntries(sent), body: JSON.parse(body) })
    }
    return enveloped('POST', request.url, outcomes)
  })
  app.setErrorHandler((error, request, reply) => {
    if (!error.validation) return reply.code(error.statusCode ?? 500).send({ message: error.message })
    return reply.code(422).send(invalid(request.method, request.url, fields(error.validation)))
  })
}
