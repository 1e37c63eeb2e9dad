import conditionalCaching, { type ConditionalCachingOptions } from '@concordat/conditional-caching'
import { publish } from '@concordat/plugin-kit/wiring'
import Fastify, { type FastifyRequest } from 'fastify'
import t, { type Test } from 'tap'

interface Release {
  readonly schema?: object | undefined
  readonly shared?: object | undefined
  readonly prefix?: string | undefined
  readonly options?: ConditionalCachingOptions | undefined
}

const localeOf = ({ headers }: FastifyRequest) => (headers['accept-language'] === 'es' ? 'es' : 'en')
const mediaTypeOf = ({ headers }: FastifyRequest) => headers.accept ?? 'application/json'

/** Starts a release of a service whose product has version 7, at `/product`, with and without a validator, and its change. */
async function release(t: Test, { schema = {}, shared, prefix = '', options = {} }: Release = {}) {
  const app = Fastify()
  t.teardown(() => app.close())
  publish(app, { negotiated: { localeOf, mediaTypeOf } })
  await app.register(conditionalCaching, options)
  await app.register(
    async (v1) => {
      if (shared !== undefined) v1.addSchema(shared)
      const config = { validator: () => ({ exists: true, etag: 7 }) }
      let runs = 0
      v1.get('/product', { config, schema: { response: { 200: schema } } }, async () => ({ runs: (runs += 1) }))
      v1.get('/tagged', { schema: { response: { 200: schema } } }, async (_request, reply) => reply.entityTag(7).send({}))
      v1.post('/products', { schema: { response: { 201: schema } } }, async (_request, reply) => reply.code(201).entityTag(7).send({}))
      v1.get('/page', { config }, async (_request, reply) => reply.type('text/html').send('<p>7</p>'))
      v1.get('/texts', { config }, async (request, reply) => reply.header('content-language', localeOf(request)).send({}))
      v1.patch('/product', { config }, async ({ preconditions }) => preconditions.versions())
    },
    { prefix }
  )
  const get = (url: string, headers = {}) => app.inject({ url: prefix + url, headers })
  const tagOf = async (url: string, headers = {}) => String((await get(url, headers)).headers.etag)
  const change = (etag: string) => app.inject({ method: 'PATCH', url: `${prefix}/product`, headers: { 'if-match': etag } })
  return { get, tagOf, change }
}

const name = { type: 'object', properties: { name: { type: 'string' } } }
const nameAndNote = { type: 'object', properties: { name: { type: 'string' }, note: { type: 'string' } } }

t.test(
  'a release with another schema never gets a wrong 304, and accepts the tags of the release before in If-Match [C1] [O1]',
  async (t) => {
    const before = await release(t, { schema: name })
    const after = await release(t, { schema: nameAndNote })
    for (const url of ['/product', '/tagged']) {
      const tag = await before.tagOf(url)
      t.equal((await before.get(url, { 'if-none-match': tag })).statusCode, 304)
      t.equal((await after.get(url, { 'if-none-match': tag })).statusCode, 200)
      const change = await after.change(tag)
      t.strictSame([change.statusCode, change.json()], [200, ['7']])
    }
    t.equal((await after.change('"8~AAAAAAAAAAA"')).statusCode, 412)
  }
)

t.test('the same release has the same tags in every process, also for a creation and a read of the same schema [C6]', async (t) => {
  const shared = { $id: 'product', ...name }
  const [one, two] = [
    await release(t, { schema: { $ref: 'product#' }, shared }),
    await release(t, { schema: { $ref: 'product#' }, shared })
  ]
  t.equal(await one.tagOf('/product'), await two.tagOf('/product'))
  const renamed = await release(t, { schema: { $ref: 'item#' }, shared: { $id: 'item', ...name } })
  t.equal(await renamed.tagOf('/product'), await one.tagOf('/product'), 'the name of a shared schema does not count')
  const changed = await release(t, { schema: { $ref: 'product#' }, shared: { $id: 'product', ...nameAndNote } })
  t.not(await changed.tagOf('/product'), await one.tagOf('/product'), 'its content does')
  const recursive = {
    $id: 'tree',
    type: 'object',
    properties: { parent: { $ref: 'tree#' }, self: { $ref: '#' }, lost: { type: 'string' } }
  }
  t.match(await (await release(t, { schema: { $ref: 'tree#' }, shared: recursive })).tagOf('/product'), /^"7~[\w-]{11}"$/)
})

t.test('a version, a projection, a language, a media type and a revision have their own tags [C1]', async (t) => {
  const v1 = await release(t, { prefix: '/v1' })
  const others = [
    await (await release(t, { prefix: '/v2' })).tagOf('/product'),
    await (await release(t, { prefix: '/v1', options: { revision: '2' } })).tagOf('/product'),
    await v1.tagOf('/product?fields=name'),
    await v1.tagOf('/page'),
    await v1.tagOf('/texts', { 'accept-language': 'es' }),
    await v1.tagOf('/texts', { 'accept-language': 'en' })
  ]
  t.equal(new Set([await v1.tagOf('/product'), ...others]).size, 7)
  for (const tag of others) t.equal((await v1.change(tag)).statusCode, 200, 'all of them name the same state')
  const many = Array.from({ length: 300 }, (_, index) => `/product?n=${index}`)
  for (const url of many) await v1.tagOf(url)
  t.equal((await v1.get('/product?n=299', { 'if-none-match': await v1.tagOf('/product?n=299') })).statusCode, 304)
})

t.test('a validator decides before the handler for the media type and the language that a request accepts [C4]', async (t) => {
  const { get, tagOf } = await release(t)
  const json = { 'if-none-match': await tagOf('/product') }
  t.equal((await get('/product', json)).statusCode, 304)
  t.strictSame((await get('/product')).json(), { runs: 2 }, 'the 304 did not run the handler')
  const page = { 'if-none-match': await tagOf('/page') }
  t.equal((await get('/page', page)).statusCode, 304, 'also after the handler, which sends another type than the request accepts')
  t.equal((await get('/page', { ...page, accept: 'text/html' })).statusCode, 304)
  const spanish = { 'accept-language': 'es' }
  const texts = { 'if-none-match': await tagOf('/texts', spanish) }
  t.equal((await get('/texts', { ...texts, ...spanish })).statusCode, 304)
  t.equal((await get('/texts', texts)).statusCode, 200)
})
