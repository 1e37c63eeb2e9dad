import { createHash } from 'node:crypto'
import { request } from 'node:http'
import files, { memoryFileStore, type StoredFile } from '@concordat/files'
import { until } from '@concordat/test-harness/until'
import multipart from '@fastify/multipart'
import Fastify, { type FastifyRequest } from 'fastify'
import t from 'tap'
import { boundary, end, fieldPart, filePart, part, png, sendRaw, uploadService } from './service.ts'

const upload = {
  cover: { types: ['image/png', 'image/jpeg'], maxBytes: 1000 },
  pages: { maxBytes: 1000, maxFiles: 2, isOptional: true }
} as const
const body = {
  type: 'object',
  required: ['title'],
  additionalProperties: false,
  properties: {
    title: { type: 'string' },
    count: { type: 'integer' },
    isPublic: { type: 'boolean' },
    tags: { type: 'array', items: { type: 'string' } },
    sizes: { type: 'array', items: { type: 'number' } },
    meta: { type: 'object', properties: { width: { type: 'integer' } } },
    crops: { type: 'array', items: { type: 'object', properties: { x: { type: 'number' } } } },
    note: { anyOf: [{ type: 'null' }, { const: 7 }] }
  }
}
const title = fieldPart('title', 'Sunrise')

t.test('fields and files arrive in any order, converted as the schema says', async (t) => {
  const { url, store } = await uploadService(t, { upload, body })
  const form = new FormData()
  form.set('cover', new Blob([png], { type: 'image/png' }), 'Zoë.png')
  for (const [name, value] of Object.entries({ title: '12', count: '-3', isPublic: 'true', tags: 'one', meta: '{"width":5}', note: '' }))
    form.append(name, value)
  for (const size of ['1', '2.5']) form.append('sizes', size)
  form.append('crops', '[{"x":1},{"x":2}]')
  const response = await fetch(url, { method: 'POST', body: form })
  const received = (await response.json()) as { body: object; upload: { cover: StoredFile; pages: StoredFile[] } }
  t.equal(response.status, 200)
  t.strictSame(received.body, {
    title: '12',
    count: -3,
    isPublic: true,
    tags: ['one'],
    sizes: [1, 2.5],
    meta: { width: 5 },
    crops: [{ x: 1 }, { x: 2 }],
    note: null
  })
  const { id, ...cover } = received.upload.cover
  t.strictSame(cover, { type: 'image/png', size: png.length, digest: createHash('sha256').update(png).digest('hex'), name: 'Zoë.png' })
  t.strictSame(received.upload.pages, [])
  t.strictSame([...store.ids], [id])
})

t.test('a field of JSON can be a blob, and lists keep their order', async (t) => {
  const { url } = await uploadService(t, { upload, body })
  const form = new FormData()
  form.append('pages', new Blob(['first'], { type: 'text/plain' }), 'one.txt')
  form.append('meta', new Blob(['{"width":5}'], { type: 'application/json' }))
  form.append('crops', '{"x":1}')
  form.append('pages', new Blob(['']), '')
  form.append('cover', new Blob([png], { type: 'image/png' }))
  form.append('crops', '{"x":2}')
  form.append('title', 'Sunrise')
  const received = (await (await fetch(url, { method: 'POST', body: form })).json()) as { body: object; upload: { pages: StoredFile[] } }
  t.strictSame(received.body, { meta: { width: 5 }, crops: [{ x: 1 }, { x: 2 }], title: 'Sunrise' })
  t.match(received.upload.pages, [
    { name: 'one.txt', size: 5 },
    { name: undefined, size: 0, type: 'application/octet-stream' }
  ])
})

t.test('what is wrong with a part is refused with its name, and nothing remains', async (t) => {
  const { url, store } = await uploadService(t, { upload, body })
  const cover = filePart('cover', png)
  const cases: readonly (readonly [string, number, RegExp, readonly Buffer[], string?])[] = [
    ['a missing file', 400, /cover/, [title, end]],
    ['a missing field', 400, /title/, [cover, end]],
    ['an unknown field', 400, /additional|must have/, [fieldPart('other', '1'), cover, end]],
    ['an unknown file', 400, /must not have the part 'photo'/, [title, filePart('photo', png), cover, end]],
    ['a list that PHP names so', 400, /cover|title/, [fieldPart('title[]', 'a'), end]],
    ['a name of the prototype', 400, /title/, [fieldPart('__proto__', '{"title":"x"}'), cover, end]],
    ['a field twice', 400, /title must be string/, [title, title, cover, end]],
    ['a single file twice', 400, /cover must NOT have more than 1/, [title, cover, cover, end]],
    ['a file too many', 400, /pages must NOT have more than 2/, [title, cover, ...Array(3).fill(filePart('pages', 'x')), end]],
    ['a field that is not a number', 400, /count must be integer/, [title, fieldPart('count', 'many'), cover, end]],
    ['a field that is not JSON', 400, /meta must be object/, [title, fieldPart('meta', '{"width":'), cover, end]],
    [
      'a field of JSON that its schema refuses',
      400,
      /meta\/width must be integer/,
      [title, fieldPart('meta', '{"width":"x"}'), cover, end]
    ],
    [
      'a file with one byte too many',
      413,
      /larger/,
      [title, filePart('cover', Buffer.concat([png, Buffer.alloc(1001 - png.length)])), end]
    ],
    ['a file of a type that is not accepted', 415, /not supported/, [title, filePart('cover', png, { type: 'image/gif' }), end]],
    ['HTML as PNG', 415, /not supported/, [title, filePart('cover', '<html><script>alert(1)</script>'), end]],
    ['an empty image', 415, /not supported/, [title, filePart('cover', ''), end]],
    ['a field beyond 512 KiB', 413, /larger/, [fieldPart('title', 'a'.repeat(524_289)), cover, end]],
    ['a body beyond all limits', 413, /larger/, [fieldPart('title', 'a'.repeat(2_000_000)), cover, end]],
    ['1,001 fields', 400, /1000 items/, [...Array(1001).fill(fieldPart('tags', 'x')), cover, end]],
    ['no part', 400, /cover/, [end]],
    ['a part without a name', 400, /multipart/, [part('Content-Disposition: form-data', 'x'), end]],
    ['no end', 400, /multipart/, [title, cover]],
    ['a cut in a file', 400, /multipart/, [title, cover.subarray(0, -30)]],
    ['a cut in a header', 400, /multipart/, [title, cover.subarray(0, 60)]],
    ['another boundary', 400, /multipart/, [title, cover, end], 'multipart/form-data; boundary=other'],
    ['no boundary', 400, /multipart/, [title, cover, end], 'multipart/form-data'],
    ['another media type', 415, /not supported/, [Buffer.from('{}')], 'application/json'],
    ['a similar media type', 415, /not supported|Unsupported/, [title, cover, end], `multipart/mixed; boundary=${boundary}`]
  ]
  for (const [name, status, message, chunks, type] of cases) {
    for (const chunked of [false, true]) {
      const response = await sendRaw(url, chunked ? () => chunks : chunks, type === undefined ? {} : { type })
      t.equal(response.status, status, `${name}: ${response.body}`)
      t.match(response.body, message, name)
    }
  }
  t.strictSame([...store.ids], [])
  t.equal((await sendRaw(url, [title, filePart('cover', png), end])).status, 200, 'and the next upload succeeds')
})

t.test('files at their limit are accepted, and of text any that is UTF-8', async (t) => {
  const rules = { csv: { types: ['text/csv'], maxBytes: 1000 } }
  const { url } = await uploadService(t, { upload: rules })
  for (const content of ['', 'BMW is a car', 'ö'.repeat(500)])
    t.equal((await sendRaw(url, [filePart('csv', content, { type: 'text/csv' }), end])).status, 200, content)
  for (const content of [Buffer.from([0xff, 0xfe]), 'a\0b', Buffer.from([0xc3])])
    t.equal((await sendRaw(url, [filePart('csv', content, { type: 'text/csv' }), end])).status, 415)
  t.equal((await sendRaw(url, [fieldPart('more', 'x'), filePart('csv', 'a', { type: 'text/csv' }), end])).status, 200)
})

t.test('a file far beyond its limit is not read to its end', async (t) => {
  const { url, store } = await uploadService(t, { upload: { film: { maxBytes: 1_048_576 } } })
  const chunk = Buffer.alloc(65_536)
  function* film() {
    yield Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="film"; filename="f"\r\n\r\n`)
    for (let n = 0; n < 3200; n += 1) yield chunk
  }
  const response = await sendRaw(url, film)
  t.equal(response.status, 413)
  t.equal(response.headers['connection'], 'close')
  t.ok(response.sent < 50_000_000, `${response.sent} of 200 MB were sent`)
  t.strictSame([...store.ids], [])
  const declared = await sendRaw(url, film, { headers: { 'content-length': '209715200' } })
  t.equal(declared.status, 413)
})

t.test('nothing remains of a client that leaves', async (t) => {
  const { url, store } = await uploadService(t, { upload, body })
  for (const bytes of [10, 200, Buffer.concat([title, filePart('cover', png)]).length - 20]) {
    const sending = request(url, { method: 'POST', headers: { 'content-type': `multipart/form-data; boundary=${boundary}` } })
    sending.on('error', () => {})
    await new Promise((resolve) => sending.write(Buffer.concat([title, filePart('cover', png)]).subarray(0, bytes), resolve))
    sending.destroy()
  }
  await until(() => store.ids.size === 0)
  t.strictSame([...store.ids], [])
})

t.test('the files of a handler that fails are deleted', async (t) => {
  for (const status of [400, 500]) {
    const { url, store } = await uploadService(t, {
      upload,
      body,
      respond: () => {
        throw Object.assign(new Error('no'), { statusCode: status })
      }
    })
    t.equal((await sendRaw(url, [title, filePart('cover', png), end])).status, status)
    t.strictSame([...store.ids], [])
  }
})

async function failing() {
  throw new Error('disk full')
}

async function* unreadable(): AsyncGenerator<Buffer> {
  yield* []
  throw new Error('disk lost')
}

t.test('a store that fails is one error, whether it stores or reads', async (t) => {
  for (const fault of [{ stage: failing }, { read: unreadable }]) {
    const app = Fastify()
    await app.register(files, { store: Object.assign(memoryFileStore(), fault) })
    app.post('/notes', { config: { upload: { note: { types: ['text/plain'], maxBytes: 1_000_000 } } } }, async ({ upload }) => upload)
    t.teardown(() => app.close())
    const url = `${await app.listen({ port: 0, host: '127.0.0.1' })}/notes`
    t.equal((await sendRaw(url, [filePart('note', Buffer.alloc(900_000, 'a'), { type: 'text/plain' }), end])).status, 500)
  }
})

t.test('names of files have no folders, invisible characters or surrogates', async (t) => {
  const { url } = await uploadService(t, { upload: { file: { maxBytes: 10 } } })
  const names: readonly (readonly [string, string | undefined])[] = [
    ['../../etc/passwd', 'passwd'],
    ['C:\\\\Users\\\\a.png', 'a.png'],
    ['..\\\\..\\\\a.png', 'a.png'],
    ['photo\u202Egnp.exe', 'photognp.exe'],
    ['a%22b%0D%0Ac.png', 'a"b c.png'],
    ['e\u0301.png', 'é.png'],
    ['..', undefined],
    [' ', undefined],
    ['', undefined],
    ['x'.repeat(300), 'x'.repeat(255)]
  ]
  for (const [given, expected] of names) {
    const response = await sendRaw(url, [filePart('file', 'x', { filename: given }), end])
    t.equal((JSON.parse(response.body) as { upload: { file: StoredFile } }).upload.file.name, expected, given)
  }
})

t.test('a wrong declaration stops the start with its remedy', async (t) => {
  const wrong: readonly (readonly [object, object, RegExp])[] = [
    [{}, {}, /config\.upload must have the rules of each file/],
    [{ a: {} }, {}, /config\.upload\[a\]\.maxBytes (?:must|is)/],
    [{ a: { maxBytes: 5, max: 2 } }, {}, /config\.upload\[a\]\.max is unknown/],
    [{ a: { maxBytes: 5, types: [] } }, {}, /types must be a non-empty array/],
    [{ a: { maxBytes: 5, types: ['image/svg'] } }, {}, /contains "image\/svg", which bytes do not show/],
    [{ a: { maxBytes: 5 } }, { type: 'object', properties: { a: { type: 'string' } } }, /"a" is in schema\.body and in config\.upload/],
    [{ a: { maxBytes: 5 } }, { content: { 'application/json': { schema: {} } } }, /a schema for each media type/]
  ]
  for (const [rules, body, message] of wrong) {
    const app = Fastify()
    await app.register(files, { store: memoryFileStore() })
    await t.rejects(
      async () => {
        app.post(
          '/photos',
          { config: { upload: rules as never }, ...(Object.keys(body).length > 0 && { schema: { body } }) },
          async () => 1
        )
        await app.ready()
      },
      { message }
    )
  }
  await t.rejects(async () => Fastify().register(files, { store: {} as never }), { message: /options\.store must implement FileStore/ })
  const parsed = Fastify()
  await parsed.register(files, { store: memoryFileStore() })
  await parsed.register(multipart)
  parsed.post('/photos', { config: { upload: { a: { maxBytes: 5 } } } }, async () => 1)
  await t.rejects(async () => parsed.ready(), { message: /another plugin parses multipart\/form-data there/ })
})

t.test('routes beside it read multipart bodies as before', async (t) => {
  const app = Fastify()
  await app.register(files, { store: memoryFileStore() })
  await app.register(async (others) => {
    await others.register(multipart)
    others.post('/others', async (request: FastifyRequest) => {
      const file = await request.file()
      return { name: file?.filename, size: (await file?.toBuffer())?.length }
    })
  })
  await app.register(async (own) => {
    own.post('/photos', { config: { upload: { cover: { maxBytes: 1000 } } } }, async ({ upload }) => upload.cover)
    own.post('/plain', async () => 'plain')
  })
  t.teardown(() => app.close())
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  t.strictSame(JSON.parse((await sendRaw(`${url}/others`, [filePart('x', 'abc'), end])).body), { name: 'a.png', size: 3 })
  t.equal((await sendRaw(`${url}/photos`, [filePart('cover', 'abc'), end])).status, 200)
  t.equal((await sendRaw(`${url}/plain`, [filePart('cover', 'abc'), end])).status, 415)
})
