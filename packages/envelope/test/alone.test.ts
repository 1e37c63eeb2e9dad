import envelope from '@concordat/envelope'
import { publish } from '@concordat/plugin-kit/wiring'
import { movedDate } from '@concordat/test-harness/moved-date'
import Fastify from 'fastify'
import t from 'tap'

const Thing = {
  type: 'object',
  required: ['id'],
  properties: { id: { type: 'string' }, note: { type: 'string' } }
}

async function start(options: Parameters<typeof envelope>[1] = {}) {
  const app = Fastify()
  await app.register(envelope, { publicUrl: 'https://api.example.com', ...options })
  return app
}

t.test('sends a resource as data, with a self link and meta, in this order [E1] [K1] [K3] [S5]', async (t) => {
  movedDate(t, Date.UTC(2026, 0, 2))
  const app = await start()
  app.get('/things/:id', { schema: { response: { 200: Thing } } }, async () => ({ id: '7' }))
  const response = await app.inject('/things/7')
  t.equal(response.statusCode, 200)
  t.equal(
    response.body,
    '{"data":{"id":"7"},"_links":[{"rel":"self","href":"https://api.example.com/things/7","method":"GET"}],"_meta":{"version":"v1","timestamp":"2026-01-02T00:00:00.000Z"}}'
  )
})

t.test('sends a list as data too [E2]', async (t) => {
  const app = await start()
  app.get('/things', { schema: { response: { 200: { type: 'array', items: Thing } } } }, async () => [{ id: '1' }, { id: '2' }])
  t.strictSame((await app.inject('/things')).json().data, [{ id: '1' }, { id: '2' }])
})

t.test('HEAD has the headers of GET, Content-Length included, and no body', async (t) => {
  const app = await start()
  app.get('/things/:id', { schema: { response: { 200: Thing } } }, async () => ({ id: '7' }))
  const [get, head] = [await app.inject('/things/7'), await app.inject({ method: 'HEAD', url: '/things/7' })]
  t.equal(head.body, '')
  t.strictSame({ ...head.headers, date: '' }, { ...get.headers, date: '' })
})

t.test('the self link omits credentials in the query', async (t) => {
  const app = await start()
  app.get('/things', { schema: { response: { 200: Thing } } }, async () => ({ id: '1' }))
  t.equal((await app.inject('/things?a=1&access_token=s3cret')).json()._links[0].href, 'https://api.example.com/things?a=1')
})

t.test('without publicUrl, links contain the address of the server, never the Host header [K2]', async (t) => {
  const app = Fastify()
  await app.register(envelope)
  app.get('/', { schema: { response: { 200: Thing } } }, async () => ({ id: '1' }))
  const { href } = (await app.inject({ url: '/', headers: { host: 'evil.example' } })).json()._links[0]
  t.equal(href, 'http://localhost/')
})

t.test('does not change errors of Fastify', async (t) => {
  const app = await start()
  app.get('/things', { schema: { response: { 200: Thing } } }, async () => {
    throw Object.assign(new Error('no such thing'), { statusCode: 404 })
  })
  const response = await app.inject('/things')
  t.strictSame([response.statusCode, response.json()], [404, { statusCode: 404, error: 'Not Found', message: 'no such thing' }])
})

t.test('a route can opt out, and so can all routes outside the API', async (t) => {
  const app = await start()
  publish(app, { belongsToApi: (_app, { url }) => !url.startsWith('/assets/') })
  app.get('/plain', { config: { envelope: false } }, async () => 'plain')
  app.get('/assets/logo', async () => 'logo')
  t.equal((await app.inject('/plain')).body, 'plain')
  t.equal((await app.inject('/assets/logo')).body, 'logo')
})

t.test('calls the function version [V8]', async (t) => {
  const app = await start({ version: () => 'v3' })
  app.get('/v3/things', { schema: { response: { 200: Thing } } }, async (_request, reply) => {
    reply.link('search', '/v3/searches', 'POST').link('help', 'https://docs.example.com/')
    return { id: '1' }
  })
  const { _links, _meta } = (await app.inject('/v3/things')).json()
  t.equal(_meta.version, 'v3')
  t.strictSame(_links.slice(1), [
    { rel: 'search', href: 'https://api.example.com/v3/searches', method: 'POST' },
    { rel: 'help', href: 'https://docs.example.com/', method: 'GET' }
  ])
})

const responseWith = async (version: string, rel: string, method: string) => {
  const app = await start({ version: () => version })
  app.get('/things', { schema: { response: { 200: Thing } } }, async (_request, reply) => {
    reply.link(rel, '/searches', method)
    return { id: '1' }
  })
  return (await app.inject('/things')).json()
}

t.test('a version or a link that is longer than the description says is an error of the service', async (t) => {
  const longest = ['v'.repeat(64), 'r'.repeat(256), 'M'.repeat(32)] as const
  t.match(await responseWith(...longest), { _links: [{}, { rel: longest[1], method: longest[2] }], _meta: { version: longest[0] } })
  for (const index of [0, 1, 2]) {
    const texts = longest.map((text, at) => (at === index ? `${text}x` : text)) as [string, string, string]
    t.match(await responseWith(...texts), { statusCode: 500, message: /^envelope: .+ more than (?:64|256) characters/ }, `text ${index}`)
  }
})

t.test('invalid options stop the boot', async (t) => {
  await t.rejects(start({ publicUrl: 'api.example.com' }), /publicUrl is the invalid URL "api.example.com"/)
})
