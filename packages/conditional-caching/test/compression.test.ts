import { brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib'
import conditionalCaching, { type ConditionalCachingOptions } from '@concordat/conditional-caching'
import compress, { type FastifyCompressOptions } from '@fastify/compress'
import Fastify, { type FastifyReply } from 'fastify'
import t from 'tap'

const large = { names: Array.from({ length: 200 }, (_, index) => `Chai ${index}`) }
const small = { name: 'Chai' }
const plain = { '/large': JSON.stringify(large), '/small': JSON.stringify(small) }

async function service(options: ConditionalCachingOptions = {}, compression: FastifyCompressOptions = {}) {
  const app = Fastify()
  await app.register(compress, compression)
  await app.register(conditionalCaching, options)
  app.get('/large', async () => large)
  app.get('/small', async () => small)
  app.get('/versioned', { config: { validator: () => ({ exists: true, etag: 7 }) } }, async () => large)
  app.patch('/versioned', { config: { validator: () => ({ exists: true, etag: 7 }) } }, async () => large)
  return app
}

const read: Readonly<Record<string, (body: Buffer) => Buffer>> = { gzip: gunzipSync, br: brotliDecompressSync, identity: (body) => body }

t.test(
  'each coding has its own strong tag, the same content and the same Vary, and each tag revalidates its own coding [C1] [C4] [N7]',
  async (t) => {
    const app = await service()
    for (const url of ['/large', '/versioned', '/small'] as const) {
      const tags = new Map<string, string>()
      for (const accept of ['gzip', 'br', 'identity']) {
        const headers = { 'accept-encoding': accept }
        const response = await app.inject({ url, headers })
        const { 'content-encoding': coding = 'identity', etag, vary } = response.headers
        t.equal(coding, url === '/small' ? 'identity' : accept, 'a small response is not compressed')
        t.equal(read[coding]?.(response.rawPayload).toString(), url === '/small' ? plain['/small'] : plain['/large'])
        t.equal(vary, 'accept-encoding')
        tags.set(coding, String(etag))
        const again = await app.inject({ url, headers: { ...headers, 'if-none-match': String(etag) } })
        t.match(again, { statusCode: 304, body: '', headers: { etag, vary: 'accept-encoding', 'cache-control': 'private, no-cache' } })
        t.equal(again.headers['content-encoding'], undefined)
      }
      t.equal(new Set(tags.values()).size, url === '/small' ? 1 : 3)
      t.equal(tags.get('gzip'), url === '/small' ? undefined : tags.get('identity')?.replace(/"$/, '--gzip"'))
    }
  }
)

t.test(
  'a tag in a coding that the client does not accept now does not match, and the tag of the plain content always matches [C4]',
  async (t) => {
    const app = await service()
    const plain = String((await app.inject('/versioned')).headers.etag)
    const inCoding = (coding: string) => plain.replace(/"$/, `--${coding}"`)
    const statusOf = async (etag: string, accept?: string) => {
      const headers = { 'if-none-match': etag, ...(accept !== undefined && { 'accept-encoding': accept }) }
      return (await app.inject({ url: '/versioned', headers })).statusCode
    }
    for (const accept of [undefined, 'br', 'identity', 'gzip;q=0', '', 'deflate, br;q=1.0'])
      t.equal(await statusOf(inCoding('gzip'), accept), 200, String(accept))
    for (const accept of ['gzip', 'GZIP', 'br, gzip;q=0.1', '*', 'deflate,gzip'])
      t.equal(await statusOf(inCoding('gzip'), accept), 304, accept)
    for (const accept of [undefined, 'gzip', 'br']) t.equal(await statusOf(plain, accept), 304)
    const both = await app.inject({
      url: '/versioned',
      headers: { 'if-none-match': `${inCoding('br')}, ${inCoding('gzip')}`, 'accept-encoding': 'gzip' }
    })
    t.equal(both.headers.etag, inCoding('gzip'))
  }
)

t.test('a tag from a compressed response protects a change [O1]', async (t) => {
  const app = await service()
  const headers = { 'accept-encoding': 'gzip' }
  const { etag } = (await app.inject({ url: '/versioned', headers })).headers
  t.match(etag, /^"7~[\w-]{11}--gzip"$/)
  t.equal((await app.inject({ method: 'PATCH', url: '/versioned', headers: { ...headers, 'if-match': etag } })).statusCode, 200)
  const stale = await app.inject({ method: 'PATCH', url: '/versioned', headers: { ...headers, 'if-match': '"6--gzip"' } })
  t.match(stale, { statusCode: 412, headers: { etag: /^"7~[\w-]{11}"$/ } })
})

t.test('HEAD has Content-Length only if GET is sure to have the same [M7]', async (t) => {
  const app = await service()
  for (const url of ['/large', '/small'] as const) {
    const coded = await app.inject({ method: 'HEAD', url, headers: { 'accept-encoding': 'gzip' } })
    t.match(coded, { statusCode: 200, body: '', headers: { 'content-length': undefined, vary: 'accept-encoding' } })
    const bare = await app.inject({ method: 'HEAD', url })
    t.equal(bare.headers['content-length'], String(plain[url].length))
    t.equal(bare.headers.etag, (await app.inject(url)).headers.etag)
    const unchanged = await app.inject({
      method: 'HEAD',
      url,
      headers: { 'accept-encoding': 'gzip', 'if-none-match': String(bare.headers.etag) }
    })
    t.match(unchanged, { statusCode: 304, headers: { 'content-length': undefined } })
  }
})

t.test('Vary is merged with its current value in any spelling, each name once, and * stays alone [N6]', async (t) => {
  const app = Fastify()
  await app.register(compress)
  await app.register(conditionalCaching)
  const fields = [
    ['Accept', 'accept, accept-encoding'],
    ['Accept-Encoding, Origin', 'accept-encoding, origin'],
    [['Accept', 'ORIGIN, accept'], 'accept, origin, accept-encoding'],
    ['origin,,', 'origin, accept-encoding'],
    ['*', '*'],
    // More values than the cache holds.
    ...Array.from({ length: 150 }, (_, index) => [`X-${index}`, `x-${index}, accept-encoding`] as const)
  ] as const
  for (const [index, [vary]] of fields.entries()) app.get(`/${index}`, async (_request, reply) => reply.header('vary', vary).send(large))
  for (const [index, [, merged]] of fields.entries()) {
    for (const accept of ['gzip', 'identity']) {
      const response = await app.inject({ url: `/${index}`, headers: { 'accept-encoding': accept } })
      t.equal(response.headers.vary, merged)
      const again = await app.inject({
        url: `/${index}`,
        headers: { 'accept-encoding': accept, 'if-none-match': String(response.headers.etag) }
      })
      t.match(again, { statusCode: 304, headers: { vary: merged } })
    }
  }
})

t.test('a response that is already compressed, incompressible, or on a route without compression stays unchanged', async (t) => {
  const app = Fastify()
  await app.register(compress)
  await app.register(conditionalCaching)
  const bytes = Buffer.alloc(4096, 'x')
  app.get('/image', async (_request, reply) => reply.type('image/png').send(bytes))
  app.get('/identity', async (_request, reply) => reply.type('text/plain').header('content-encoding', 'identity').send('short'))
  app.get('/coded', async (_request, reply) => reply.type('text/plain').header('content-encoding', 'gzip').send(gzipSync(bytes)))
  app.get('/plain', { compress: false }, async () => large)
  app.get('/nothing', async (_request, reply) => reply.code(204).send())
  const headers = { 'accept-encoding': 'gzip' }
  const image = await app.inject({ url: '/image', headers })
  t.match(image.headers, { vary: undefined, 'content-encoding': undefined, 'content-length': '4096', etag: /^"[\w-]{22}"$/ })
  const coded = await app.inject({ url: '/coded', headers })
  t.match(coded.headers, { vary: 'accept-encoding', 'content-encoding': 'gzip', etag: /--gzip"$/ })
  t.match((await app.inject({ url: '/identity', headers })).headers, { 'content-encoding': 'identity', etag: /^"[\w-]{22}"$/ })
  t.equal(gunzipSync(coded.rawPayload).toString(), bytes.toString())
  t.match((await app.inject({ url: '/plain', headers })).headers, { vary: undefined, 'content-encoding': undefined })
  t.equal((await app.inject({ url: '/nothing', headers })).headers.vary, undefined)
})

t.test('a compressed error has Vary and does not have a tag [C1]', async (t) => {
  const app = Fastify()
  await app.register(compress, { threshold: 0 })
  await app.register(conditionalCaching)
  app.get('/', async (_request, reply) => reply.code(404).entityTag(7).send({ lost: true }))
  app.head('/unchanged', async (_request, reply) => reply.entityTag(7).send({}))
  for (const accept of ['gzip', 'identity']) {
    const { headers } = await app.inject({ url: '/', headers: { 'accept-encoding': accept } })
    t.match(headers, { vary: 'accept-encoding', etag: undefined, 'cache-control': 'no-store' })
  }
  const { etag } = (await app.inject({ method: 'HEAD', url: '/unchanged' })).headers
  const headers = { 'accept-encoding': 'gzip', 'if-none-match': String(etag) }
  const unchanged = await app.inject({ method: 'HEAD', url: '/unchanged', headers })
  t.match(unchanged, { statusCode: 304, headers: { 'content-encoding': undefined, 'content-length': undefined } })
})

t.test('@fastify/compress can be registered before the plugin, after it, or in a child context', async (t) => {
  const before = await service()
  const after = Fastify()
  await after.register(conditionalCaching)
  await after.register(compress)
  after.get('/large', async () => large)
  const child = Fastify()
  await child.register(conditionalCaching)
  child.get('/plain', async () => large)
  await child.register(async (instance) => {
    await instance.register(compress)
    instance.get('/large', async () => large)
  })
  const headers = { 'accept-encoding': 'gzip' }
  const tags: unknown[] = []
  for (const app of [before, after, child]) {
    const response = await app.inject({ url: '/large', headers })
    t.match(response.headers, { 'content-encoding': 'gzip', vary: 'accept-encoding' })
    tags.push(response.headers.etag)
    const again = await app.inject({ url: '/large', headers: { ...headers, 'if-none-match': String(response.headers.etag) } })
    t.match(again, { statusCode: 304, headers: { vary: 'accept-encoding' } })
    t.equal((await app.inject({ method: 'HEAD', url: '/large', headers })).headers['content-length'], undefined)
  }
  t.strictSame(tags, [tags[0], tags[0], tags[0]])
  t.match(tags[0], /--gzip"$/)
  t.equal((await child.inject({ url: '/plain', headers })).headers.vary, undefined)
})

t.test('another plugin before compression sees the tag and the plain content of a response, in any order', async (t) => {
  const seen: unknown[] = []
  const keep = async (_request: unknown, reply: FastifyReply, payload: unknown) => {
    seen.push(typeof payload, reply.getHeader('etag'))
    return payload
  }
  for (const order of ['caching, store, compress', 'compress, caching, store']) {
    const app = Fastify()
    seen.length = 0
    const register: Readonly<Record<string, () => PromiseLike<unknown>>> = {
      caching: () => app.register(conditionalCaching),
      compress: () => app.register(compress),
      store: async () => app.addHook('onRoute', (route) => void (route.onSend = [route.onSend ?? [], keep].flat()))
    }
    for (const name of order.split(', ')) await register[name]?.()
    app.patch('/', async (_request, reply) => reply.entityTag(8).send(large))
    const response = await app.inject({ method: 'PATCH', url: '/', headers: { 'accept-encoding': 'gzip' } })
    t.match(response.headers, { 'content-encoding': 'gzip', etag: /^"8~[\w-]{11}"$/ })
    t.match(seen[1], /^"8~[\w-]{11}"$/, order)
    if (order.endsWith('compress')) t.equal(seen[0], 'string')
  }
})
