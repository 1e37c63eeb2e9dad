import contentNegotiation, { contentNegotiationErrors } from '@concordat/content-negotiation'
import Fastify from 'fastify'
import t from 'tap'

async function bareService() {
  const app = Fastify()
  await app.register(contentNegotiation)
  app.get('/orders', (request) => ({ as: request.acceptedMediaType }))
  app.post('/orders', (request) => ({ read: request.body }))
  return app
}

t.test('sends JSON by default, and Fastify without other plugins sends a readable 406 [S3] [N1] [N2] [X1]', async (t) => {
  const app = await bareService()
  for (const headers of [{}, { accept: '*/*' }, { accept: 'application/json' }]) {
    const response = await app.inject({ url: '/orders', headers })
    t.strictSame(response.json(), { as: 'application/json' })
    t.equal(response.headers['content-type'], 'application/json; charset=utf-8')
  }
  const refused = await app.inject({ url: '/orders', headers: { accept: 'text/html' } })
  t.equal(refused.statusCode, 406)
  t.strictSame(refused.json(), {
    statusCode: 406,
    code: 'NOT_ACCEPTABLE',
    error: 'Not Acceptable',
    message:
      'The response is not available in any media type that Accept allows. Send a supported media type in Accept, or omit the header. Available: application/json.'
  })
})

t.test('accepts JSON bodies by default, and Fastify without other plugins sends a readable 415 [N3] [X1]', async (t) => {
  const app = await bareService()
  t.strictSame((await app.inject({ method: 'POST', url: '/orders', payload: { a: 1 } })).json(), { read: { a: 1 } })
  const refused = await app.inject({ method: 'POST', url: '/orders', headers: { 'content-type': 'text/plain' }, payload: 'a' })
  t.equal(refused.headers.accept, 'application/json')
  t.strictSame(refused.json(), {
    statusCode: 415,
    code: 'UNSUPPORTED_MEDIA_TYPE',
    error: 'Unsupported Media Type',
    message: 'Content-Type is missing, repeated or not supported by this resource. Send a supported media type in Content-Type.'
  })
})

t.test('returns 404 for an unknown URL, with any Accept or body', async (t) => {
  const app = await bareService()
  t.equal((await app.inject({ url: '/nothing', headers: { accept: 'text/html' } })).statusCode, 404)
  for (const type of ['image/png', 'text/plain', '']) {
    const response = await app.inject({
      method: 'POST',
      url: '/nothing',
      headers: type === '' ? {} : { 'content-type': type },
      payload: 'a'
    })
    t.equal(response.statusCode, 404, type)
  }
})

t.test('every error has a message in English and Spanish', async (t) => {
  t.strictSame(Object.keys(contentNegotiationErrors.definitions), [
    'NOT_ACCEPTABLE',
    'UNSUPPORTED_MEDIA_TYPE',
    'UNSUPPORTED_CHARSET',
    'UNSUPPORTED_CONTENT_ENCODING'
  ])
  for (const { message } of Object.values(contentNegotiationErrors.definitions)) t.strictSame(Object.keys(message), ['en', 'es'])
})

t.test('invalid options stop the boot with one line', async (t) => {
  const cases = [
    [{ locales: [] }, 'content-negotiation: options.locales is []. Use language tags, the default first, such as ["en", "pt-BR"].'],
    [{ locales: 'en' }, 'content-negotiation: options.locales is "en". Use language tags, the default first, such as ["en", "pt-BR"].'],
    [{ locales: ['en', 'no_NO'] }, /options\.locales is \["en","no_NO"\]/],
    [{ locales: [7] }, /options\.locales is \[7\]/],
    [{ contentEncodings: 'gzip' }, 'content-negotiation: options.contentEncodings is "gzip". Use a list of codings, for example ["gzip"].'],
    [{ contentEncodings: ['gzip, br'] }, /options\.contentEncodings is \["gzip, br"\]/],
    [{ contentEncodings: [1] }, /options\.contentEncodings is \[1\]/]
  ] as const
  for (const [options, message] of cases) {
    await t.rejects(async () => Fastify().register(contentNegotiation, options as never), { name: 'TypeError', message })
  }
})

t.test('an invalid route config is refused when the route is registered, with one line that names the route', async (t) => {
  const cases = [
    [{ produces: [] }, 'content-negotiation: GET /orders: config.produces is []. List at least one media type, or omit it for JSON.'],
    [{ produces: 'text/csv' }, /config\.produces is "text\/csv"/],
    [{ consumes: [] }, /config\.consumes is \[\]/],
    [
      { produces: ['text/*'] },
      'content-negotiation: GET /orders: config.produces contains "text/*". Use types such as "text/csv", without wildcards or parameters.'
    ],
    [{ consumes: ['*/*'] }, /config\.consumes contains "\*\/\*"/],
    [{ produces: ['csv'] }, /config\.produces contains "csv"/],
    [{ produces: ['text/csv; charset=utf-8'] }, /config\.produces contains "text\/csv; charset=utf-8"/],
    [{ produces: [7] }, /config\.produces contains 7/]
  ] as const
  const app = Fastify()
  await app.register(contentNegotiation)
  for (const [config, message] of cases) {
    t.throws(() => app.get('/orders', { config: config as never }, async () => []), { name: 'TypeError', message })
  }
})
