import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import conventions, { serverOptions } from '@concordat/conventions'
import errorCatalogue, { errorCatalogueServerOptions } from '@concordat/error-catalogue'
import multipart, { type MultipartFile } from '@fastify/multipart'
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import t, { type Test } from 'tap'

type Part = readonly [name: string, value: string | Buffer, rest?: { filename?: string; type?: string }]

function form(...parts: readonly Part[]) {
  const pieces = parts.flatMap(([name, value, { filename, type } = {}]) => [
    `--xx\r\nContent-Disposition: form-data; name="${name}"${filename === undefined ? '' : `; filename="${filename}"`}\r\n`,
    type === undefined ? '\r\n' : `Content-Type: ${type}\r\n\r\n`,
    value,
    '\r\n'
  ])
  return Buffer.concat([...pieces, '--xx--\r\n'].map((piece) => Buffer.from(piece)))
}

const boundary = 'multipart/form-data; boundary=xx'

async function send(app: FastifyInstance, url: string, payload: Buffer | string, type = boundary) {
  const response = await app.inject({ method: 'POST', url, headers: { 'content-type': type }, payload })
  const { error, ...rest } = response.json()
  if (error === undefined) return rest
  return [response.statusCode, error.code, ...(error.errors ?? []).map(({ field }: { field: string }) => field)]
}

const readers: Readonly<Record<string, (request: FastifyRequest) => Promise<unknown>>> = {
  '/file': async (request) => {
    const part = await request.file()
    const { length } = (await part?.toBuffer()) ?? ''
    return [Object.keys(part?.fields ?? {}), part?.filename, length]
  },
  '/files': async (request) => {
    const read: unknown[] = []
    for await (const part of request.files()) read.push([part.filename, (await part.toBuffer()).length])
    return read
  },
  '/parts': async (request) => {
    const read: unknown[] = []
    for await (const part of request.parts())
      read.push([part.fieldname, part.type === 'file' ? (await part.toBuffer()).length : part.value])
    return read
  },
  '/saved': async (request) => {
    const { files, values } = await request.saveRequestFiles()
    return [files.map(({ filename }) => filename), Object.keys(values)]
  }
}

async function service(before?: (app: FastifyInstance) => void, options: object = {}) {
  const app = Fastify(errorCatalogueServerOptions())
  before?.(app)
  await app.register(errorCatalogue)
  await app.register(multipart, options)
  for (const [url, read] of Object.entries(readers)) app.post(url, async (request) => ({ read: await read(request) }))
  app.post('/body', async ({ body }) => ({ read: Object.keys(body as object) }))
  return app
}

const bytes = Buffer.from([0, 255, 0, 1])
const fine = form(['title', 'café'], ['f', bytes, { filename: 'año.bin', type: 'application/octet-stream' }], ['note', ''])

t.test('reads parts as @fastify/multipart does, and never the bytes of files', async (t) => {
  const app = await service()
  t.strictSame(await send(app, '/file', fine), { read: [['title', 'f', 'note'], 'año.bin', 4] })
  t.strictSame(await send(app, '/files', fine), { read: [['año.bin', 4]] })
  t.strictSame(await send(app, '/parts', fine), {
    read: [
      ['title', 'café'],
      ['f', 4],
      ['note', '']
    ]
  })
  t.strictSame(await send(app, '/saved', fine), { read: [['año.bin'], ['title', 'f', 'note']] })
  t.strictSame(await send(app, '/file', form(['a', 'b'])), { read: [[], undefined, 0].map((value) => value ?? null) })
})

t.test('returns 422 for text fields, file names and media types that cannot be stored, however they are read', async (t) => {
  const large = Buffer.alloc(200_000, 'y')
  const cases: readonly [field: string, ...parts: Part[]][] = [
    ['body.title', ['title', 'a\0b'], ['f', bytes, { filename: 'a' }]],
    ['body.f', ['f', large, { filename: 'a\0.png' }]],
    ['body.f', ['f', bytes, { filename: 'a', type: 'image/\0' }]],
    ['body.a\ufffd', ['a\0', 'x'], ['f', bytes, { filename: 'a' }]],
    ['body.meta.deep.0', ['meta', String.raw`{"deep":["\u0000"]}`, { type: 'application/json' }], ['f', bytes, { filename: 'a' }]],
    ['body.meta.\ufffd', ['meta', String.raw`{"\ud800":1}`, { type: 'application/json' }], ['f', bytes, { filename: 'a' }]]
  ]
  for (const attachFieldsToBody of [undefined, true, 'keyValues'] as const) {
    const app = await service(undefined, attachFieldsToBody && { attachFieldsToBody })
    const urls = attachFieldsToBody === undefined ? ['/file', '/parts', '/saved'] : ['/body', '/saved']
    for (const [field, ...parts] of cases)
      for (const url of urls)
        t.strictSame(await send(app, url, form(...parts)), [422, 'VALIDATION_FAILED', field], `${url} ${attachFieldsToBody} ${field}`)
  }
  const app = await service()
  t.strictSame(await send(app, '/files', form(['f', bytes, { filename: '\0' }])), [422, 'VALIDATION_FAILED', 'body.f'])
  t.strictSame(await send(app, '/parts', form(['a', '\0']), 'Multipart/Form-Data; boundary=xx'), [422, 'VALIDATION_FAILED', 'body.a'])
  t.strictSame(await send(app, '/file', form(['f', bytes, { filename: 'a' }], ['late', '\0'])), [422, 'VALIDATION_FAILED', 'body.late'])
  t.strictSame(await send(app, '/parts', form(['tag', 'a'], ['tag', 'b\0'])), [422, 'VALIDATION_FAILED', 'body.tag'])
})

const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`
const wide = (count: number, item = '0') => `[${Array.from({ length: count }, () => item).join(',')}]`
const members = (count: number) => `{${Array.from({ length: count }, (_, index) => `"a${index}":0`).join(',')}}`

t.test('returns 400 and 413 for a JSON field that is deep or has many values, however it is read, with little work', async (t) => {
  const cases: [string, unknown[] | undefined][] = [
    [nested(64), undefined],
    [nested(65), [400, 'JSON_TOO_DEEP']],
    [nested(400_000), [400, 'JSON_TOO_DEEP']],
    [`{"a":${nested(64)}}`, [400, 'JSON_TOO_DEEP']],
    [wide(9_000), undefined],
    [wide(400_000), [413, 'PAYLOAD_TOO_LARGE']],
    [wide(30_000, '{"a":[0]}'), [413, 'PAYLOAD_TOO_LARGE']],
    [members(80_000), [413, 'PAYLOAD_TOO_LARGE']]
  ]
  for (const attachFieldsToBody of [undefined, true, 'keyValues'] as const) {
    const app = await service(undefined, attachFieldsToBody && { attachFieldsToBody })
    for (const [json, refused] of cases) {
      const payload = form(['meta', json, { type: 'application/json' }], ['f', bytes, { filename: 'a' }])
      for (const url of attachFieldsToBody === undefined ? ['/parts', '/saved'] : ['/body']) {
        const found = await send(app, url, payload)
        if (refused === undefined) t.type((found as { read?: unknown }).read, 'object', `${url} ${json.length}`)
        else t.strictSame(found, refused, `${url} ${attachFieldsToBody} ${json.length}`)
      }
    }
  }
})

t.test('returns 400 for a multipart body that is incomplete or without a valid boundary, however it is read', async (t) => {
  const cut = String(form(['title', 'a'], ['f', 'abc', { filename: 'a' }]))
  for (const attachFieldsToBody of [undefined, true, 'keyValues'] as const) {
    const app = await service(undefined, attachFieldsToBody && { attachFieldsToBody })
    const urls = attachFieldsToBody === undefined ? Object.keys(readers) : ['/body']
    for (const url of urls) {
      for (const type of ['multipart/form-data', 'multipart/form-data; charset=utf-8', `multipart/form-data; boundary=${'x'.repeat(260)}`])
        t.strictSame(await send(app, url, cut, type), [400, 'MALFORMED_MULTIPART'], `${url} ${type.slice(0, 40)}`)
      for (const end of [cut.length - 8, cut.indexOf('abc') + 2, cut.indexOf('filename'), 10])
        t.strictSame(await send(app, url, cut.slice(0, end)), [400, 'MALFORMED_MULTIPART'], `${url} cut at ${end}`)
    }
  }
  const app = await service()
  t.strictSame(await send(app, '/parts', form(['meta', '{', { type: 'application/json' }])), [400, 'MALFORMED_JSON'])
})

t.test('returns 415 for a body that is not multipart, and lists the supported type', async (t) => {
  const app = await service()
  for (const url of Object.keys(readers)) {
    const response = await app.inject({ method: 'POST', url, payload: {} })
    t.match(response, { statusCode: 415, headers: { accept: 'multipart/form-data' } }, url)
    t.equal(response.json().error.code, 'UNSUPPORTED_MEDIA_TYPE')
  }
})

t.test('an error of the service while it reads a file stays a 500', async (t) => {
  const app = await service((early) => {
    early.post('/failing', async (request) => {
      const { file } = (await request.file()) as MultipartFile
      file.destroy(new Error('no space left'))
      await file.toArray()
    })
    early.post('/throwing', async () => Promise.reject(Object.assign(new Error('Unexpected end of multipart data'), { statusCode: 503 })))
  })
  t.equal((await send(app, '/throwing', fine))[0], 503)
  t.equal((await send(app, '/failing', form(['f', Buffer.alloc(100_000), { filename: 'a' }])))[0], 500)
})

async function rawUpload(t: Test, app: FastifyInstance, body: Buffer) {
  await app.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(() => app.close())
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  let text = ''
  socket.on('data', (chunk) => {
    text += String(chunk)
  })
  const head = ['POST /parts HTTP/1.1', 'Host: a', 'Connection: close', `Content-Type: ${boundary}`, `Content-Length: ${body.length}`]
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
  socket.end(body)
  await once(socket, 'close')
  return text
}

t.test('over a connection, reads the rest of a large upload that is refused', async (t) => {
  const app = await service(undefined, { limits: { fileSize: 10_000_000 } })
  const text = await rawUpload(t, app, form(['f', Buffer.alloc(900_000, 'y'), { filename: 'a\0' }], ['title', 'x']))
  t.match(text, /^HTTP\/1\.1 422 [^]*"field":"body\.f"/)
})

t.test('in a version, a route that consumes multipart behaves the same, and its description lists the error', async (t) => {
  const app = Fastify(serverOptions())
  await app.register(conventions, {
    publicUrl: 'https://api.example.com',
    versions: { 1: {} },
    authentication: false,
    transportSecurity: { dangerouslyAllowHttp: 'loopback' }
  })
  await app.register(multipart)
  const Image = { type: 'object', required: ['title'], properties: { title: { type: 'string' } } }
  await app.apiVersion(1, async (v1) => {
    const config = { consumes: ['multipart/form-data'], idempotency: 'off' } as const
    v1.post('/images', { config, schema: { response: { 201: Image } } }, async (request, reply) => {
      const part = await request.file()
      await part?.toBuffer()
      return reply.created('/images/1', { title: String(part?.filename) })
    })
  })
  const call = (payload: Buffer | string, type = boundary) =>
    app.inject({ method: 'POST', url: '/v1/images', headers: { 'content-type': type }, payload })
  t.equal((await call(fine)).json().data.title, 'año.bin')
  t.match((await call(form(['f', bytes, { filename: '\0' }]))).json().error, { status: 422, errors: [{ field: 'body.f' }] })
  t.match((await call(fine.subarray(0, 60))).json().error, { status: 400, code: 'MALFORMED_MULTIPART' })
  t.match((await call('{}', 'application/json')).json().error, { status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' })
  const document = (await app.inject('/v1/openapi')).json()
  const responses = document.paths['/v1/images'].post.responses as Record<string, { $ref?: string }>
  const codes = Object.values(responses).flatMap(({ $ref = '' }) =>
    Object.keys(document.components.responses[$ref.split('/').at(-1) as string]?.content['application/json'].examples ?? {})
  )
  t.match(
    ['MALFORMED_MULTIPART', 'VALIDATION_FAILED', 'MALFORMED_JSON'].map((code) => codes.includes(code)),
    [true, true, false]
  )
})
