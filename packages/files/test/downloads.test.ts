import { randomBytes, randomUUID } from 'node:crypto'
import files, { memoryFileStore, type SentFileOptions } from '@concordat/files'
import Fastify from 'fastify'
import t, { type Test } from 'tap'

const bytes = randomBytes(1000)

async function service(
  t: Test,
  {
    content = bytes,
    type = 'application/pdf',
    name,
    options = {}
  }: { content?: Buffer; type?: string; name?: string | undefined; options?: SentFileOptions } = {}
) {
  const app = Fastify()
  const store = memoryFileStore()
  const id = randomUUID()
  await store.stage(
    id,
    (async function* () {
      yield content
    })()
  )
  await app.register(files, { store })
  app.get('/file', (_request, reply) => reply.file({ id, type, size: content.length, digest: 'd1', name }, options))
  t.teardown(() => app.close())
  const url = `${await app.listen({ port: 0, host: '127.0.0.1' })}/file`
  return (headers: Record<string, string> = {}, method = 'GET') => fetch(url, { headers, method })
}

t.test('a file has its length, its type, a strong entity tag, and accepts ranges', async (t) => {
  const get = await service(t)
  const response = await get()
  t.ok(Buffer.from(await response.arrayBuffer()).equals(bytes))
  t.equal(response.status, 200)
  const sent = ['content-type', 'content-length', 'etag', 'accept-ranges', 'x-content-type-options', 'content-disposition']
  t.strictSame(
    sent.map((name) => response.headers.get(name)),
    ['application/pdf', '1000', '"d1"', 'bytes', 'nosniff', 'attachment']
  )
})

t.test('a range is served as it is asked for, or ignored, or refused [RFC 9110 §14]', async (t) => {
  const get = await service(t)
  const cases: readonly (readonly [string, number, (readonly [number, number])?])[] = [
    ['bytes=0-0', 206, [0, 0]],
    ['bytes=10-19', 206, [10, 19]],
    ['bytes=990-', 206, [990, 999]],
    ['bytes=990-5000', 206, [990, 999]],
    ['bytes=-10', 206, [990, 999]],
    ['bytes=-2000', 206, [0, 999]],
    ['Bytes=0-4', 206, [0, 4]],
    ['bytes=1000-', 416],
    ['bytes=99999999999999999999-', 416],
    ['bytes=-0', 416],
    ['bytes=5-2', 200],
    ['bytes=abc', 200],
    ['bytes=-', 200],
    ['bytes=', 200],
    ['bytes=0-1,5-6', 200],
    ['lines=0-1', 200]
  ]
  for (const [range, status, place] of cases) {
    const response = await get({ range })
    const body = Buffer.from(await response.arrayBuffer())
    t.equal(response.status, status, range)
    t.equal(response.headers.get('content-range'), status === 416 ? 'bytes */1000' : place ? `bytes ${place.join('-')}/1000` : null, range)
    if (status !== 416) t.ok(body.equals(place ? bytes.subarray(place[0], place[1] + 1) : bytes), range)
  }
})

t.test('If-Range counts only if it is the strong tag of the file; HEAD has no ranges', async (t) => {
  const get = await service(t)
  for (const [condition, status] of [
    ['"d1"', 206],
    ['"d2"', 200],
    ['W/"d1"', 200],
    ['Wed, 21 Oct 2026 07:28:00 GMT', 200]
  ] as const)
    t.equal((await get({ range: 'bytes=0-1', 'if-range': condition })).status, status, condition)
  const head = await get({ range: 'bytes=0-1' }, 'HEAD')
  t.strictSame([head.status, head.headers.get('content-length'), await head.text()], [200, '1000', ''])
})

t.test('an empty file has no range', async (t) => {
  const get = await service(t, { content: Buffer.alloc(0) })
  t.equal(await (await get()).text(), '')
  for (const range of ['bytes=0-', 'bytes=-5']) t.equal((await get({ range })).status, 416)
})

t.test('a file is saved under its name, or another [RFC 6266]', async (t) => {
  const cases: readonly (readonly [string, string])[] = [
    ['plan.pdf', 'attachment; filename=plan.pdf'],
    ['my plan.pdf', 'attachment; filename="my plan.pdf"'],
    ['a"b.pdf', 'attachment; filename="a\\"b.pdf"'],
    ['Zoë.pdf', "attachment; filename=Zoe.pdf; filename*=UTF-8''Zo%C3%AB.pdf"],
    ['写真.pdf', "attachment; filename=__.pdf; filename*=UTF-8''%E5%86%99%E7%9C%9F.pdf"],
    ['../../etc/passwd', 'attachment; filename=passwd'],
    ['a\r\nSet-Cookie: x', 'attachment; filename="aSet-Cookie: x"'],
    ['a\ud800.pdf', "attachment; filename=a_.pdf; filename*=UTF-8''a%EF%BF%BD.pdf"],
    ['\u202Egpj.exe', 'attachment; filename=gpj.exe']
  ]
  for (const [name, expected] of cases) {
    t.equal((await (await service(t, { name }))()).headers.get('content-disposition'), expected, name)
    t.equal((await (await service(t, { options: { name } }))()).headers.get('content-disposition'), expected, name)
  }
})

t.test('a browser may show a file inline, unless it could run scripts', async (t) => {
  for (const type of ['image/png', 'application/pdf', 'text/plain; charset=utf-8'])
    t.equal((await (await service(t, { type, options: { inline: true } }))()).headers.get('content-disposition'), 'inline', type)
  for (const type of ['text/html', 'image/svg+xml', 'application/xml', 'text/xml', 'application/xhtml+xml', 'text/html; charset=utf-8'])
    t.equal((await (await service(t, { type, options: { inline: true } }))()).headers.get('content-disposition'), 'attachment', type)
})
