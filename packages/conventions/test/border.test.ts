import { ownTokens } from '@concordat/authentication'
import { testKit } from '@concordat/authentication/testing'
import conventions, { type ConventionsOptions, serverOptions } from '@concordat/conventions'
import Fastify, { type FastifyInstance } from 'fastify'
import t from 'tap'

const origin = { issuer: 'https://id.example', audience: 'things' }
const Thing = { type: 'object', required: ['id'], properties: { id: { type: 'string' } } }

async function start(options: Partial<ConventionsOptions> = {}, outside: (app: FastifyInstance) => void = () => {}) {
  const app = Fastify(serverOptions())
  t.teardown(() => app.close())
  await app.register(conventions, {
    publicUrl: 'https://api.example.com',
    versions: { 1: {} },
    transportSecurity: { dangerouslyAllowHttp: 'loopback' },
    authentication: false,
    ...options
  })
  outside(app)
  await app.ready()
  return app
}

t.test('a route outside the versions is an ordinary route: no envelope, no negotiation, no tag, no lint', async (t) => {
  const app = await start({}, (app) => {
    app.get('/getPage', async (_request, reply) => reply.type('text/html').send('<p>hello</p>'))
    app.get('/lists', { schema: { response: { 200: { type: 'array', items: Thing } } } }, async () => [{ id: '1', secret: 'x' }])
  })
  const page = await app.inject({ url: '/getPage', headers: { accept: 'text/html' } })
  t.match([page.statusCode, page.body], [200, '<p>hello</p>'])
  t.strictSame((await app.inject('/lists')).json(), [{ id: '1' }])
  t.notOk(page.headers.etag)
  t.notOk(page.headers['cache-control'])
  t.equal((await app.inject({ url: '/lists', headers: { accept: 'text/csv' } })).statusCode, 200)
})

t.test('it has a request id, security headers and limits, and its failures are in the envelope', async (t) => {
  const app = await start({}, (app) => {
    app.get('/page', async () => 'x')
    app.get('/broken', async () => {
      throw new Error('secret')
    })
    app.get('/html-error', async (_request, reply) => reply.code(404).type('text/html').send('<p>gone</p>'))
    app.post('/checked', { schema: { body: Thing } }, async () => 'x')
  })
  t.match((await app.inject('/page')).headers, { 'request-id': /./, 'x-content-type-options': 'nosniff', ratelimit: /./ })
  const broken = await app.inject('/broken')
  t.match(broken.json(), { error: { status: 500, code: 'INTERNAL_ERROR' } })
  t.notMatch(broken.body, 'secret')
  t.match((await app.inject('/html-error')).json(), { error: { status: 404, code: 'RESOURCE_NOT_FOUND' } })
  t.match((await app.inject({ method: 'POST', url: '/checked', payload: {} })).json(), {
    error: { status: 422, code: 'VALIDATION_FAILED', errors: [{ field: 'id' }] }
  })
  t.match((await app.inject({ method: 'PUT', url: '/page' })).json(), { error: { code: 'METHOD_NOT_ALLOWED' } })
})

t.test('a setting in its config applies a convention to a route outside the versions', async (t) => {
  const app = await start({}, (app) => {
    app.get('/cached', { config: { cache: 'public' } }, async () => 'x')
    app.get('/csv', { config: { produces: ['text/csv'] } }, async (_request, reply) => reply.type('text/csv').send('a'))
    app.get('/health', { config: { operational: true }, schema: { response: { 200: Thing } } }, async () => ({ id: '1' }))
  })
  const cached = await app.inject('/cached')
  t.match(cached.headers, { 'cache-control': /^public/, etag: /./ })
  t.equal((await app.inject({ url: '/csv', headers: { accept: 'image/png' } })).statusCode, 406)
  t.equal((await app.inject({ url: '/csv', headers: { accept: 'application/json' } })).statusCode, 406, 'which has no JSON')
  t.match((await app.inject('/health')).json(), { data: { id: '1' } }, 'an operational route follows the conventions of responses')
})

t.test('the service can have its own GET /', async (t) => {
  const app = await start({ versioning: { versionsPath: '/versions' } }, (app) => {
    app.get('/', async (_request, reply) => reply.type('text/html').send('<h1>Home</h1>'))
  })
  t.equal((await app.inject('/')).body, '<h1>Home</h1>')
  t.match((await app.inject('/versions')).json(), { data: { versions: [{ version: 'v1' }] } })
  await t.rejects(
    start({}, (app) => app.get('/', async () => 'home')),
    /versioning: GET \/ already describes the versions\. Set options\.versionsPath to another path, or to false for no description\./
  )
})

t.test('reply.moved redirects on a route of a version that declares only the redirection', async (t) => {
  const app = Fastify(serverOptions())
  await app.register(conventions, {
    publicUrl: 'https://api.example.com',
    versions: { 1: {} },
    transportSecurity: { dangerouslyAllowHttp: 'loopback' },
    authentication: false
  })
  await app.apiVersion(1, async (v1) => {
    v1.get('/articles/:id', { schema: { response: { 301: { type: 'null' } } } }, async (_request, reply) => reply.moved('/things/1'))
  })
  const moved = await app.inject('/v1/articles/1')
  t.match([moved.statusCode, moved.headers.location, moved.body], [301, 'https://api.example.com/v1/things/1', ''])
})

function addPost(app: FastifyInstance) {
  app.post('/', async () => 'x')
}

t.test('a route outside is public only if it is declared, also at the path of the list of versions', async (t) => {
  const issuer = ownTokens({ ...origin, keys: testKit(origin).keys })
  const options = { authentication: { issuers: [issuer], permissions: ['things:read'] } }
  await t.rejects(start(options, addPost), /authentication: \/ does not declare who may use it\..* options\.outside, .*: '\/': 'public'\.$/)
  const app = await start({ ...options, outside: { '/': ['things:read'] } }, addPost)
  t.equal((await app.inject({ method: 'POST', url: '/' })).statusCode, 401)
  t.equal((await app.inject('/')).statusCode, 200)
})
