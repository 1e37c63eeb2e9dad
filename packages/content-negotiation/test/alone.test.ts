import contentNegotiation from '@concordat/content-negotiation'
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

t.test('invalid options stop the boot with one line', async (t) => {
  const cases = [
    [
      { locales: [] },
      'content-negotiation: options.locales must be an array of language tags, the default first, such as ["en", "pt-BR"], but is [].'
    ],
    [
      { locales: 'en' },
      'content-negotiation: options.locales must be an array of language tags, the default first, such as ["en", "pt-BR"], but is "en".'
    ],
    [{ locales: ['en', 'no_NO'] }, /options\.locales must be an array .*but is \["en","no_NO"\]/],
    [{ locales: [7] }, /options\.locales must be an array .*but is \[7\]/],
    [
      { contentEncodings: 'gzip' },
      'content-negotiation: options.contentEncodings must be an array of content codings, for example ["gzip"], but is "gzip".'
    ],
    [{ contentEncodings: ['gzip, br'] }, /options\.contentEncodings must be an array .*but is \["gzip, br"\]/],
    [{ contentEncodings: [1] }, /options\.contentEncodings must be an array .*but is \[1\]/]
  ] as const
  for (const [options, message] of cases) {
    await t.rejects(async () => Fastify().register(contentNegotiation, options as never), { name: 'TypeError', message })
  }
})

t.test('an invalid route config stops the start, with one line that names the route', async (t) => {
  const cases = [
    [
      { produces: [] },
      'content-negotiation: GET /orders: config.produces must be a non-empty array of media types, but is []. Omit it to use JSON.'
    ],
    [{ produces: 'text/csv' }, /config\.produces must be a non-empty array of media types, but is "text\/csv"/],
    [{ consumes: [] }, /config\.consumes must be a non-empty array of media types, but is \[\]/],
    [
      { produces: ['text/*'] },
      'content-negotiation: GET /orders: config.produces contains the invalid media type "text/*". Use a media type such as "text/csv", without wildcards or parameters.'
    ],
    [{ consumes: ['*/*'] }, /config\.consumes contains the invalid media type "\*\/\*"/],
    [{ produces: ['csv'] }, /config\.produces contains the invalid media type "csv"/],
    [{ produces: ['text/csv; charset=utf-8'] }, /config\.produces contains the invalid media type "text\/csv; charset=utf-8"/],
    [{ produces: [7] }, /config\.produces contains the invalid media type 7/]
  ] as const
  for (const [config, message] of cases) {
    const app = Fastify()
    await app.register(contentNegotiation)
    app.get('/orders', { config: config as never }, async () => [])
    await t.rejects(async () => app.ready(), { name: 'TypeError', message })
  }
})

t.test('a media type without a schema in schema.body.content stops the start', async (t) => {
  const schema = { type: 'object' }
  const cases = [
    [
      ['application/json', 'application/merge-patch+json'],
      ['application/json'],
      'content-negotiation: PATCH /orders: config.consumes contains "application/merge-patch+json", which schema.body.content lacks. Add a schema for it there, or remove it from config.consumes.'
    ],
    [['image/png'], ['application/json'], /config\.consumes contains "image\/png", which schema\.body\.content lacks/],
    [undefined, [], /schema\.body\.content must be a non-empty array of media types, but is \[\]/],
    [undefined, ['application/*'], /schema\.body\.content contains the invalid media type "application\/\*"/],
    [
      undefined,
      ['Application/JSON'],
      'content-negotiation: PATCH /orders: schema.body.content contains the invalid media type "Application/JSON". Use a media type such as "text/csv", in lower case, without wildcards or parameters.'
    ]
  ] as const
  for (const [consumes, types, message] of cases) {
    const app = Fastify()
    await app.register(contentNegotiation)
    const body = { content: Object.fromEntries(types.map((type) => [type, { schema }])) }
    app.patch('/orders', { config: { consumes }, schema: { body } }, async () => ({}))
    await t.rejects(async () => app.ready(), { name: 'TypeError', message })
  }
})
