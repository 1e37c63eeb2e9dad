import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import conventions, { type ConventionsOptions, serverOptions } from '@concordat/conventions'
import { hidePackage } from '@concordat/test-harness/hidden-package'
import { movedDate } from '@concordat/test-harness/moved-date'
import Fastify from 'fastify'
import t from 'tap'
import { cachedService, credentialsOf } from './cached-service.ts'

const local = { transportSecurity: { dangerouslyAllowHttp: 'loopback' } } as const
const product = { id: 'any', name: 'Chang', description: 'beer' }
const description = { type: 'object', required: ['text'], properties: { text: { type: 'string' } } }

async function service(options: Partial<ConventionsOptions> = {}) {
  const { app, runs } = await cachedService({ ...local, ...options })
  const get = (url: string, headers: Record<string, string> = {}) => app.inject({ url, headers })
  return { app, runs, get }
}

t.test(
  'the entity tag ignores the timestamp of the envelope: an unchanged resource is 304 with every header of a 304 [C1] [C4] [H2]',
  async (t) => {
    const clock = movedDate(t, Date.UTC(2026, 10, 21))
    const { get } = await service()
    const first = await get('/v1/categories/1')
    clock.now += 12_345_678
    const later = await get('/v1/categories/1')
    t.not(first.json()._meta.timestamp, later.json()._meta.timestamp)
    t.equal(first.headers.etag, later.headers.etag)
    const again = await get('/v1/categories/1', { 'if-none-match': String(first.headers.etag) })
    t.strictSame([again.statusCode, again.body], [304, ''])
    for (const name of ['cache-control', 'etag', 'vary']) t.equal(again.headers[name], first.headers[name])
    t.match(again.headers, { 'request-id': /^[\da-f-]{36}$/, vary: 'accept, accept-encoding', 'x-content-type-options': 'nosniff' })
    for (const name of ['content-type', 'content-length', 'content-language']) t.equal(again.headers[name], undefined)
    t.not((await get('/v1/categories/2')).headers.etag, first.headers.etag)
  }
)

t.test('the entity tag of a body that only ends like an envelope includes its timestamp [C1]', async (t) => {
  const app = Fastify(serverOptions())
  await app.register(conventions, { ...local, publicUrl: 'https://shop.example', versions: { 1: {} }, authentication: false })
  let timestamp = '2026-11-21T09:30:00.000Z'
  await app.apiVersion(1, async (v1) => {
    v1.get('/clocks/:id', { config: { envelope: false } }, async () => ({ _meta: { timestamp } }))
  })
  const { etag } = (await app.inject('/v1/clocks/1')).headers
  timestamp = '2026-11-21T09:30:00.001Z'
  t.not((await app.inject('/v1/clocks/1')).headers.etag, etag)
})

t.test('a failed precondition is in the envelope, in the language of the client, with the current tag [E4] [E5] [G1] [O1]', async (t) => {
  const { app } = await service()
  const put = (headers: Record<string, string>) => app.inject({ method: 'PUT', url: '/v1/products/small-1', headers, body: product })
  const failed = await put({ 'if-match': '"7"', 'accept-language': 'es' })
  t.match(failed.json(), {
    error: {
      status: 412,
      error: 'Precondition Failed',
      code: 'PRECONDITION_FAILED',
      message: /^El recurso no está en el estado que requiere la petición\./
    },
    _links: [{ rel: 'self', href: 'https://shop.example/v1/products/small-1', method: 'PUT' }],
    _meta: { version: 'v1' }
  })
  t.match(failed.headers, { etag: /^"1~[\w-]{11}"$/, 'cache-control': 'no-store', 'content-language': 'es' })
  t.match((await put({ 'if-match': 'W/"1"', 'accept-language': 'es' })).json(), { error: { message: /etiqueta de entidad débil/ } })
  t.match((await put({ 'if-match': 'x' })).json(), { error: { code: 'PRECONDITION_FAILED', message: /not a valid list of entity tags/ } })
  t.equal((await put({ 'if-match': '"1"' })).statusCode, 200)
  t.match((await app.inject({ url: '/v1/products/small-1' })).headers, { etag: /^"2~[\w-]{11}"$/ })
})

t.test('returns 401 without credentials even if the client knows the tag, and 422 for the body before 412', async (t) => {
  const { app, get } = await service()
  const { etag } = (await get('/v1/profiles/mine', credentialsOf('ada'))).headers
  t.equal((await get('/v1/profiles/mine', { 'if-none-match': String(etag) })).statusCode, 401)
  t.equal((await get('/v1/profiles/mine', { 'if-none-match': '*' })).statusCode, 401)
  const wrong = { method: 'PUT', url: '/v1/products/small-1', headers: { 'if-match': '"7"' }, body: { id: 1 } } as const
  t.equal((await app.inject(wrong)).statusCode, 422)
})

t.test('a response is private for an authenticated caller, and public for others [C3]', async (t) => {
  const { get } = await service()
  t.equal((await get('/v1/categories/1')).headers['cache-control'], 'public, max-age=86400')
  t.equal((await get('/v1/categories/1', credentialsOf('ada'))).headers['cache-control'], 'private, no-cache')
  t.equal((await get('/v1/profiles/mine', credentialsOf('ada'))).headers['cache-control'], 'private, no-cache')
  t.equal((await get('/')).headers['cache-control'], 'private, no-cache')
})

t.test(
  'responses of at least a kilobyte are compressed with Brotli or gzip as the client prefers, errors and small responses are not [N7]',
  async (t) => {
    const { get } = await service()
    const plain = (await get('/v1/products/large-1')).json().data
    const preferences = [
      ['gzip, deflate, br', 'br'],
      ['gzip', 'gzip'],
      ['br;q=0.5, gzip;q=0.8', 'gzip'],
      ['*', 'gzip'],
      ['zstd, deflate', undefined],
      ['gzip;q=0', undefined],
      ['identity', undefined]
    ] as const
    for (const [accept, coding] of preferences) {
      const response = await get('/v1/products/large-1', { 'accept-encoding': accept })
      t.equal(response.headers['content-encoding'], coding, accept)
      t.match(response.headers.etag, coding ? new RegExp(`^"1~[\\w-]{11}--${coding}"$`) : /^"1~[\w-]{11}"$/)
      t.equal(response.headers.vary, 'accept, accept-encoding')
      const body =
        coding === 'br'
          ? brotliDecompressSync(response.rawPayload)
          : coding === 'gzip'
            ? gunzipSync(response.rawPayload)
            : response.rawPayload
      t.strictSame(JSON.parse(body.toString()).data, plain)
    }
    for (const url of ['/v1/products/small-1', '/v1/products/none', '/none']) {
      const response = await get(url, { 'accept-encoding': 'gzip' })
      t.equal(response.headers['content-encoding'], undefined, url)
    }
  }
)

t.test('binary data, images and routes with compress: false are not compressed; a compressed request body is refused', async (t) => {
  const app = Fastify(serverOptions())
  await app.register(conventions, { ...local, publicUrl: 'https://shop.example', versions: { 1: {} }, authentication: false })
  const bytes = Buffer.alloc(4096, 'x')
  await app.apiVersion(1, async (v1) => {
    for (const [path, type] of Object.entries({ pictures: 'image/png', downloads: 'application/octet-stream', drawings: 'image/svg+xml' }))
      v1.get(`/${path}/:id`, { config: { envelope: false, produces: [type] } }, async (_request, reply) => reply.type(type).send(bytes))
    const schema = { response: { 200: description } }
    v1.get('/secrets/:id', { compress: false, schema }, async () => ({ text: 'x'.repeat(4096) }))
    v1.post(
      '/notes',
      { config: { idempotency: 'off' }, schema: { body: description, response: { 201: description } } },
      async (_request, reply) => reply.created('/notes/1', { text: 'x'.repeat(4096) })
    )
  })
  const headers = { 'accept-encoding': 'br, gzip' }
  const codingOf = async (url: string) => (await app.inject({ url, headers: { ...headers, accept: '*/*' } })).headers['content-encoding']
  for (const path of ['secrets', 'pictures', 'downloads']) t.equal(await codingOf(`/v1/${path}/1`), undefined)
  t.equal(await codingOf('/v1/drawings/1'), 'br')
  const coded = { 'content-encoding': 'gzip', 'content-type': 'application/json' }
  t.equal((await app.inject({ method: 'POST', url: '/v1/notes', headers: coded, body: 'x' })).statusCode, 415)
  const created = await app.inject({ method: 'POST', url: '/v1/notes', headers, body: { text: 'x' } })
  t.match(created, { statusCode: 201, headers: { 'content-encoding': 'br', 'cache-control': 'no-store', etag: undefined } })
})

t.test('HEAD has the headers of GET, also those that compression and preconditions change [M7]', async (t) => {
  const { app } = await service()
  const own = new Set(['date', 'request-id', 'ratelimit', 'content-length', 'transfer-encoding'])
  const said = ({ statusCode, headers }: { statusCode: number; headers: object }) =>
    new Map([['status', statusCode], ...Object.entries(headers).filter(([name]) => !own.has(name))])
  for (const url of ['/v1/products/large-1', '/v1/products/small-1', '/v1/categories/1', '/v1/products/none', '/v1/pictures/1', '/'])
    for (const coding of ['identity', 'gzip', 'br', '*']) {
      const tags = [undefined, '"none"', (await app.inject({ url, headers: { 'accept-encoding': coding } })).headers.etag]
      for (const tag of tags) {
        const headers = { 'accept-encoding': coding, ...(tag !== undefined && { 'if-none-match': tag }) }
        const [get, head] = [await app.inject({ url, headers }), await app.inject({ method: 'HEAD', url, headers })]
        t.strictSame(said(head), said(get), `${url} ${JSON.stringify(headers)}`)
        t.equal(head.body, '')
        // The compressed size of two times differs by some bytes.
        const isExact = get.headers['content-encoding'] === undefined
        const length = get.headers['content-length']
        if (isExact) t.equal(head.headers['content-length'], length)
        else t.ok(Math.abs(Number(head.headers['content-length']) - Number(length)) < 20)
      }
    }
})

t.test('caching, compression or both can be left out', async (t) => {
  const bare = await service({ conditionalCaching: false, compression: false })
  t.match((await bare.get('/v1/products/large-1', { 'accept-encoding': 'gzip' })).headers, {
    etag: undefined,
    'content-encoding': undefined
  })
  const uncompressed = await service({ compression: false })
  const response = await uncompressed.get('/v1/categories/1', { 'accept-encoding': 'gzip' })
  t.match(response.headers, { 'cache-control': 'public, max-age=86400', vary: 'accept', 'content-encoding': undefined })
  const uncached = await service({ conditionalCaching: false, compression: { encodings: ['gzip'] } })
  t.match((await uncached.get('/v1/products/large-1', { 'accept-encoding': 'br, gzip' })).headers, {
    'content-encoding': 'gzip',
    etag: undefined
  })
})

t.test('without @fastify/compress, the start logs that responses are not compressed, or stops if its options are set [N7]', async (t) => {
  hidePackage(t, '@fastify/compress')
  const lines: string[] = []
  const start = async (options: Partial<ConventionsOptions>) => {
    const app = Fastify({
      ...serverOptions(),
      logger: { level: 'warn', stream: { write: (line) => void lines.push(JSON.parse(line).msg) } }
    })
    t.teardown(() => app.close())
    await app.register(conventions, { publicUrl: 'https://shop.example', versions: { 1: {} }, authentication: false, ...local, ...options })
    await app.ready()
    return app
  }
  const app = await start({})
  t.match(
    lines.join('\n'),
    'conventions: responses are not compressed. This requires @fastify/compress 9.2 or a later 9, but it is not installed. Run: npm install @fastify/compress@9, or set options.compression to false where a proxy compresses them.'
  )
  const response = await app.inject({ url: '/v1/openapi', headers: { 'accept-encoding': 'identity' } })
  t.equal(response.statusCode, 200)
  lines.length = 0
  await start({ compression: false })
  t.notMatch(lines.join('\n'), 'compress')
  await t.rejects(start({ compression: { threshold: 1 } }), {
    message:
      'conventions: options.compression requires @fastify/compress 9.2 or a later 9, but it is not installed. Run: npm install @fastify/compress@9'
  })
})
