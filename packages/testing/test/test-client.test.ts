import { describedFetch, freshDatabase, testClient } from '@concordat/testing'
import Fastify from 'fastify'
import t from 'tap'
import { buildApp, prepare } from './book-service.ts'

const app = await buildApp(await freshDatabase(t, { prepare, serverUrl: false }), (v1) => {
  v1.get('/surprises', { config: { public: true }, schema: { response: { 200: { type: 'object', properties: {} } } } }, async (_, reply) =>
    reply.header('x-surprise', 'yes').send({})
  )
})
app.get('/plain', { config: { public: true } }, async (_, reply) => reply.type('text/plain').send('plain'))
app.addContentTypeParser('multipart/form-data', { parseAs: 'string' }, async (_request: unknown, body: unknown) => body)
app.post('/forms', { config: { public: true, consumes: ['multipart/form-data'] } }, async ({ headers, body }, reply) =>
  reply.type('text/plain').send(`${headers['content-type']}\n${String(body)}`)
)
const client = testClient(t, app)
const unchecked = testClient(t, app, { checkResponses: false })
const ada = await client.signIn('/v1/tokens', { username: 'ada' })

t.test('sends a request with the token of the user who has signed in, and returns status, headers, body and bytes', async (t) => {
  const created = await ada.post('/v1/books', { id: '1', title: 'Momo' })
  t.match(created, { status: 201, body: { data: { id: '1', title: 'Momo' } }, headers: { 'content-type': /json/ } })
  const read = await ada.get('/v1/books/1')
  t.strictSame([read.status, JSON.parse(read.bytes.toString())], [200, read.body])
  t.equal((await client.get('/v1/books/1')).status, 401)
  t.equal((await client.get('/v1/books/1', undefined, { authorization: 'Bearer none' })).body.error.code, 'INVALID_TOKEN')
})

t.test('adds an idempotency key only where the description requires one and the test sends none', async (t) => {
  const book = { id: '2', title: 'Jim Button' }
  const keyed = { 'Idempotency-Key': 'mine' }
  const [first, again] = [await ada.post('/v1/books', book, keyed), await ada.post('/v1/books', book, keyed)]
  t.strictSame([first.status, again.status, again.headers['idempotency-replayed']], [201, 201, 'true'])
  t.equal((await ada.post('/v1/books', { id: '3', title: 'Ophelia' })).status, 201)
  t.equal((await ada.post('/v1/books', book, { 'idempotency-key': undefined })).body.error.code, 'IDEMPOTENCY_KEY_REQUIRED')
  t.equal((await unchecked.post('/v1/books', book)).status, 401)
})

t.test('every method of HTTP has a function or is a word', async (t) => {
  for (const method of ['put', 'patch', 'delete'] as const) t.equal((await ada[method]('/v1/books/1', {})).status, 405)
  t.strictSame((await ada.request('HEAD', '/v1/books/1')).body, undefined)
})

t.test('a response that differs from its description rejects with the request, the status code and each difference', async (t) => {
  const differs = /testing: a response differs from its description\.\nGET \/v1\/surprises 200: the header x-surprise is not described/
  await t.rejects(ada.get('/v1/surprises'), { message: differs })
  await t.rejects(ada.inject('/v1/surprises'), { message: differs })
  await t.rejects(ada.inject({ url: { pathname: '/v1/surprises' } }), { message: differs })
  t.equal((await ada.inject({ url: { pathname: '/v1/surprises', query: { much: 'yes' } } })).statusCode, 422)
})

t.test('the description itself and routes outside of versions are not compared', async (t) => {
  t.equal((await client.get('/v1/openapi')).status, 200)
  t.match(await client.get('/plain'), { status: 200, body: undefined, text: 'plain', bytes: Buffer.from('plain') })
})

t.test('sends a form with files as multipart', async (t) => {
  const form = new FormData()
  form.set('title', 'Momo')
  form.set('cover', new Blob(['bytes'], { type: 'image/png' }), 'momo.png')
  const { text } = await client.post('/forms', form)
  t.match(text, /^multipart\/form-data; ?boundary=\S+\n--[^]*name="title"[^]*Momo[^]*filename="momo.png"[^]*image\/png[^]*bytes/)
})

t.test('a version without a description is an error that says what to do, unless the service does not have the version', async (t) => {
  t.match(await client.get('/v9/books'), { status: 404, body: { error: { code: 'VERSION_NOT_FOUND' } } })
  const plain = Fastify()
  plain.get('/v1/books', async () => [])
  await t.rejects(testClient(t, plain).get('/v1/books'), {
    message: /GET \/v1\/openapi returns 404.*Register @concordat\/openapi, or set checkResponses: false/
  })
})

t.test('a sign-in without a token is an error with the response and without the credentials', async (t) => {
  const refused = await client.signIn('/v1/tokens', { username: 'ada', password: 'hush' }).catch((error: Error) => error.message)
  t.match(refused, /POST \/v1\/tokens returns 422 without an access token\. .*VALIDATION_FAILED/)
  t.notMatch(refused, 'hush')
  await t.rejects(client.signIn('/plain', {}), { message: /POST \/plain returns 405 without an access token/ })
})

t.test('unknown options are refused', async (t) => {
  t.throws(() => testClient(t, app, { header: {} } as never), { message: /testing: options\.header/ })
})

t.test('a fetch compares the responses of a service in another process', async (t) => {
  const address = await app.listen({ port: 0, host: '127.0.0.1' })
  const signedIn = (await (await post(`${address}/v1/tokens`, { username: 'ada' })).json()) as { data: { accessToken: string } }
  const authorization = { authorization: `Bearer ${signedIn.data.accessToken}` }
  const response = await describedFetch(`${address}/v1/books/1`, { headers: { ...authorization, 'accept-language': 'en' } })
  t.match(await response.json(), { data: { title: 'Momo' } })
  await t.rejects(describedFetch(`${address}/v1/surprises`), { message: /GET \/v1\/surprises 200: the header x-surprise is not described/ })
})

function post(url: string, body: object) {
  return describedFetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
}
