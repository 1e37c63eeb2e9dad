import conventions, { type ConventionsOptions, serverOptions } from '@concordat/conventions'
import { memoryFileStore, type StoredFile } from '@concordat/files'
import { responseChecker } from '@concordat/openapi/testing'
import { type Static, Type } from '@sinclair/typebox'
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import t, { type Test } from 'tap'
import { z } from 'zod'

// The tests know the shape of the documents that they read.
// oxlint-disable-next-line typescript/no-explicit-any
type Loose = any

const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64')
const Photo = Type.Object({ id: Type.String(), title: Type.String(), size: Type.Integer(), pages: Type.Integer() })
const fields = {
  TypeBox: Type.Object({
    title: Type.String({ minLength: 2, maxLength: 80 }),
    count: Type.Optional(Type.Integer({ minimum: 0, maximum: 9 })),
    meta: Type.Optional(Type.Object({ n: Type.Integer() }))
  }),
  Zod: z.object({
    title: z.string().min(2).max(80),
    count: z.int().min(0).max(9).optional(),
    meta: z.object({ n: z.int() }).optional()
  })
}
const upload = {
  cover: { types: ['image/png', 'image/jpeg'], maxBytes: 1000 },
  pages: { types: ['application/pdf'], maxBytes: 1000, maxFiles: 3, isOptional: true }
} as const
const uploaded = new Map<string, StoredFile>()

async function service(t: Test, body: unknown, options: Partial<ConventionsOptions> = {}) {
  const app = Fastify(serverOptions())
  t.teardown(() => app.close())
  await app.register(conventions, {
    publicUrl: 'https://shop.example',
    versions: { 1: {} },
    authentication: false,
    idempotency: { scope: () => 'everyone', dangerouslyUnshared: true },
    transportSecurity: { dangerouslyAllowHttp: 'loopback' },
    stores: { files: memoryFileStore() },
    ...options
  })
  await app.apiVersion(1, async (v1) => {
    v1.post(
      '/photos',
      { config: { upload, idempotency: 'accepted' }, schema: { body: body as object, response: { 201: Photo } } },
      async (request, reply) => {
        const { cover, pages } = request.upload
        const { title } = request.body as { title: string }
        uploaded.set(cover.id, cover)
        reply.code(201)
        return { id: cover.id, title, size: cover.size, pages: pages.length } satisfies Static<typeof Photo>
      }
    )
    const Bytes = Type.Unsafe<Buffer>({ type: 'string', format: 'binary' })
    v1.get(
      '/photos/:id',
      {
        config: { cache: 'no-cache' },
        schema: {
          params: Type.Object({ id: Type.String() }),
          response: {
            200: { description: 'The photo', content: { 'application/json': { schema: Photo }, 'image/png': { schema: Bytes } } }
          }
        }
      },
      async (request: FastifyRequest, reply) => {
        const file = uploaded.get((request.params as { id: string }).id) as StoredFile
        if (request.acceptedMediaType === 'application/json') return { id: file.id, title: 'A photo', size: file.size, pages: 0 }
        return reply.file(file, { inline: true })
      }
    )
  })
  return { app, url: await app.listen({ port: 0, host: '127.0.0.1' }) }
}

type Values = Readonly<Record<string, string | Blob | readonly Blob[]>>
const photo = new Blob([png], { type: 'image/png' })

async function send(url: string, values: Values, headers: Record<string, string> = {}) {
  const form = new FormData()
  for (const [name, value] of Object.entries(values))
    for (const one of [value].flat()) {
      if (typeof one === 'string') form.append(name, one)
      else form.append(name, one, 'Zoë.png')
    }
  const response = await fetch(`${url}/v1/photos`, { method: 'POST', body: form, headers })
  const body = (await response.json()) as Loose
  return { status: response.status, body, headers: response.headers, fields: body.error?.errors?.map(({ field }: Loose) => field) }
}

for (const [library, schema] of Object.entries(fields)) {
  t.test(`with ${library}, parts are validated and named in the envelope of errors`, async (t) => {
    const { url } = await service(t, schema)
    const pdf = new Blob(['%PDF-1.4\n%\xff\xff\xff\xff\n1 0 obj'], { type: 'application/pdf' })
    const done = await send(url, { title: 'Sunrise', count: '3', meta: '{"n":1}', cover: photo, pages: [pdf, pdf] })
    t.match(done, { status: 201, body: { data: { title: 'Sunrise', size: png.length, pages: 2 } } })
    const wrong: readonly (readonly [string, number, string, readonly string[], Values])[] = [
      ['a missing file', 422, 'VALIDATION_FAILED', ['body.cover'], { title: 'Sunrise' }],
      ['a missing field', 422, 'VALIDATION_FAILED', ['body.title'], { cover: photo }],
      ['a short text', 422, 'VALIDATION_FAILED', ['body.title'], { title: 'S', cover: photo }],
      ['an unknown field', 422, 'VALIDATION_FAILED', ['body.more'], { title: 'Sunrise', more: '1', cover: photo }],
      ['an unknown file', 422, 'VALIDATION_FAILED', ['body.photo'], { title: 'Sunrise', photo }],
      ['too many files', 422, 'VALIDATION_FAILED', ['body.pages'], { title: 'Sunrise', cover: photo, pages: [pdf, pdf, pdf, pdf] }],
      ['text for a number', 422, 'VALIDATION_FAILED', ['body.count'], { title: 'Sunrise', count: 'x', cover: photo }],
      [
        'a number that loses digits',
        422,
        'VALIDATION_FAILED',
        ['body.count'],
        { title: 'Sunrise', count: '12345678901234567890', cover: photo }
      ],
      [
        'JSON that loses digits',
        422,
        'VALIDATION_FAILED',
        ['body.meta.n'],
        { title: 'Sunrise', meta: '{"n":12345678901234567890}', cover: photo }
      ],
      ['no JSON', 422, 'VALIDATION_FAILED', ['body.meta'], { title: 'Sunrise', meta: '{', cover: photo }],
      ['JSON with a forbidden key', 422, 'VALIDATION_FAILED', ['body.meta'], { title: 'Sunrise', meta: '{"__proto__":1}', cover: photo }],
      ['JSON that is too deep', 400, 'JSON_TOO_DEEP', [], { title: 'Sunrise', meta: '{"n":'.repeat(70), cover: photo }],
      ['NUL', 422, 'VALIDATION_FAILED', ['body.title'], { title: 'Sun\0rise', cover: photo }],
      [
        'too many bytes',
        413,
        'PAYLOAD_TOO_LARGE',
        ['body.cover'],
        { title: 'Sunrise', cover: new Blob([png, Buffer.alloc(1000)], { type: 'image/png' }) }
      ],
      ['another type', 415, 'UNSUPPORTED_MEDIA_TYPE', ['body.pages.1'], { title: 'Sunrise', cover: photo, pages: [pdf, photo] }],
      [
        'other content',
        415,
        'UNSUPPORTED_MEDIA_TYPE',
        ['body.pages.0'],
        { title: 'Sunrise', cover: photo, pages: [new Blob(['x'], { type: 'application/pdf' })] }
      ]
    ]
    for (const [name, status, code, fields, values] of wrong) {
      const response = await send(url, values)
      t.strictSame([response.status, response.body.error.code, response.fields ?? []], [status, code, fields], name)
    }
    const json = await fetch(`${url}/v1/photos`, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } })
    t.strictSame([json.status, json.headers.get('accept')], [415, 'multipart/form-data'])
    const spanish = await send(url, { title: 'Sunrise', cover: new Blob(['x'], { type: 'image/png' }) }, { 'accept-language': 'es' })
    t.equal(spanish.body.error.errors[0].message, 'debe contener datos de su Content-Type image/png')
  })

  t.test(`with ${library}, the description has the parts, and each response matches it`, async (t) => {
    const { app, url } = await service(t, schema)
    const document: Loose = (await app.inject('/v1/openapi')).json()
    const { requestBody, responses } = document.paths['/v1/photos'].post
    t.strictSame(Object.keys(requestBody.content), ['multipart/form-data'])
    const { schema: form, encoding } = requestBody.content['multipart/form-data']
    t.match(form.properties, {
      title: { type: 'string', minLength: 2 },
      cover: { type: 'string', format: 'binary', 'x-max-bytes': 1000 },
      pages: { type: 'array', maxItems: 3, items: { type: 'string', format: 'binary' } }
    })
    t.strictSame([...form.required].sort(), ['cover', 'title'])
    t.strictSame(encoding, { cover: { contentType: 'image/png, image/jpeg' }, pages: { contentType: 'application/pdf' } })
    for (const status of ['400', '413', '415', '422']) t.ok(responses[status], status)
    const check = responseChecker(document)
    for (const values of [{ title: 'Sunrise', cover: photo }, { title: 'Sunrise' }] as Values[]) {
      const { status, body, headers } = await send(url, values)
      t.strictSame(
        check({ method: 'POST', url: '/v1/photos', status, headers: Object.fromEntries(headers), body: Buffer.from(JSON.stringify(body)) }),
        []
      )
    }
  })
}

t.test('a retry with another boundary is a replay; with other parts it is refused', async (t) => {
  const { url } = await service(t, fields.TypeBox)
  const key = { 'idempotency-key': '"9f3c"' }
  const first = await send(url, { title: 'Sunrise', cover: photo }, key)
  const second = await send(url, { title: 'Sunrise', cover: photo }, key)
  t.strictSame([first.status, second.status, second.headers.get('idempotency-replayed')], [201, 201, 'true'])
  t.strictSame(second.body.data, first.body.data)
  t.equal((await send(url, { title: 'Sunset', cover: photo }, key)).status, 422)
})

t.test('a resource is sent in the form that Accept prefers, JSON always among them, and a file in ranges', async (t) => {
  const { url } = await service(t, fields.TypeBox)
  const { id } = (await send(url, { title: 'Sunrise', cover: photo })).body.data
  const get = (headers: Record<string, string>, method = 'GET') => fetch(`${url}/v1/photos/${id}`, { headers, method })
  t.match((await (await get({})).json()) as Loose, { data: { id } })
  const image = await get({ accept: 'image/png' })
  t.ok(Buffer.from(await image.arrayBuffer()).equals(png))
  t.match(image.headers.get('content-disposition'), /^inline; filename=/)
  t.match(image.headers.get('vary'), /accept/i)
  const etag = image.headers.get('etag') ?? ''
  t.match(etag, /^"[\da-f]{64}"$/)
  t.equal((await get({ accept: 'image/png', 'if-none-match': etag })).status, 304)
  const json = await get({ accept: 'application/json', 'if-none-match': etag })
  t.equal(json.status, 200)
  const part = await get({ accept: 'image/png', range: 'bytes=0-3' })
  t.strictSame([part.status, part.headers.get('content-range'), (await part.arrayBuffer()).byteLength], [206, `bytes 0-3/${png.length}`, 4])
  const beyond = await get({ accept: 'image/png', range: 'bytes=5000-' })
  t.match([beyond.status, await beyond.json()], [416, { error: { code: 'RANGE_NOT_SATISFIABLE' } }])
  t.equal(beyond.headers.get('content-range'), `bytes */${png.length}`)
  t.equal((await get({ accept: 'text/html' })).status, 406)
  t.equal((await get({ accept: 'image/png' }, 'HEAD')).headers.get('content-length'), String(png.length))
})

t.test('without the store of files, an upload stops the start', async (t) => {
  await t.rejects(
    async () => {
      const { app } = await service(t, fields.TypeBox, { stores: {} })
      await (app as FastifyInstance).ready()
    },
    { message: /files: POST \/v1\/photos: config\.upload has no effect/ }
  )
})
