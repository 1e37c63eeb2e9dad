import contentNegotiation, { negotiationErrors } from '@concordat/content-negotiation'
import Fastify from 'fastify'
import t from 'tap'

async function bareService() {
  const app = Fastify()
  await app.register(contentNegotiation)
  app.get('/orders', (request) => ({ as: request.acceptedMediaType }))
  app.post('/orders', (request) => ({ read: request.body }))
  return app
}

t.test('JSON is the answer by default, and stock Fastify prints 406 sensibly [S3] [N1] [N2] [X1]', async (t) => {
  const app = await bareService()
  for (const headers of [{}, { accept: '*/*' }, { accept: 'application/json' }]) {
    const answer = await app.inject({ url: '/orders', headers })
    t.strictSame(answer.json(), { as: 'application/json' })
    t.equal(answer.headers['content-type'], 'application/json; charset=utf-8')
  }
  const refused = await app.inject({ url: '/orders', headers: { accept: 'text/html' } })
  t.equal(refused.statusCode, 406)
  t.strictSame(refused.json(), {
    statusCode: 406,
    code: 'NOT_ACCEPTABLE',
    error: 'Not Acceptable',
    message: 'The answer cannot be had in a media type that Accept allows. Ask for one of these: application/json.'
  })
})

t.test('JSON is the body by default, and stock Fastify prints 415 sensibly [N3] [X1]', async (t) => {
  const app = await bareService()
  t.strictSame((await app.inject({ method: 'POST', url: '/orders', payload: { a: 1 } })).json(), { read: { a: 1 } })
  const refused = await app.inject({ method: 'POST', url: '/orders', headers: { 'content-type': 'text/plain' }, payload: 'a' })
  t.equal(refused.headers.accept, 'application/json')
  t.strictSame(refused.json(), {
    statusCode: 415,
    code: 'UNSUPPORTED_MEDIA_TYPE',
    error: 'Unsupported Media Type',
    message: 'The body has no media type that is read here. Send exactly one Content-Type, which is one of these: application/json.'
  })
})

t.test('a URL that does not exist is a 404, whatever is accepted or sent', async (t) => {
  const app = await bareService()
  t.equal((await app.inject({ url: '/nothing', headers: { accept: 'text/html' } })).statusCode, 404)
  for (const type of ['image/png', 'text/plain', '']) {
    const answer = await app.inject({ method: 'POST', url: '/nothing', headers: type === '' ? {} : { 'content-type': type }, payload: 'a' })
    t.equal(answer.statusCode, 404, type)
  }
})

t.test('every error has its words in English and Spanish', async (t) => {
  t.strictSame(Object.keys(negotiationErrors.definitions), [
    'NOT_ACCEPTABLE',
    'UNSUPPORTED_MEDIA_TYPE',
    'UNSUPPORTED_CHARSET',
    'UNSUPPORTED_CONTENT_ENCODING'
  ])
  for (const { message } of Object.values(negotiationErrors.definitions)) t.strictSame(Object.keys(message), ['en', 'es'])
})

t.test('a mistake in the options is refused at boot with one clear line', async (t) => {
  const cases = [
    [{ locales: [] }, 'content-negotiation: locales is []. Give language tags, the default one first, as ["en", "pt-BR"].'],
    [{ locales: 'en' }, 'content-negotiation: locales is "en". Give language tags, the default one first, as ["en", "pt-BR"].'],
    [{ locales: ['en', 'no_NO'] }, /locales is \["en","no_NO"\]/],
    [{ locales: [7] }, /locales is \[7\]/],
    [{ contentEncodings: 'gzip' }, 'content-negotiation: contentEncodings is "gzip". Give a list of codings, as ["gzip"].'],
    [{ contentEncodings: ['gzip, br'] }, /contentEncodings is \["gzip, br"\]/],
    [{ contentEncodings: [1] }, /contentEncodings is \[1\]/]
  ] as const
  for (const [options, message] of cases) {
    await t.rejects(async () => Fastify().register(contentNegotiation, options as never), { name: 'TypeError', message })
  }
})

t.test('a mistake in a route is refused when it is registered, and the line names the route', async (t) => {
  const cases = [
    [{ produces: [] }, 'GET /orders: produces is []. List at least one media type, or leave it out for JSON.'],
    [{ produces: 'text/csv' }, /produces is "text\/csv"/],
    [{ consumes: [] }, /consumes is \[\]/],
    [
      { produces: ['text/*'] },
      'GET /orders: produces has "text/*". Name each media type in full, without wildcards and parameters, as "text/csv".'
    ],
    [{ consumes: ['*/*'] }, /consumes has "\*\/\*"/],
    [{ produces: ['csv'] }, /produces has "csv"/],
    [{ produces: ['text/csv; charset=utf-8'] }, /produces has "text\/csv; charset=utf-8"/],
    [{ produces: [7] }, /produces has 7/]
  ] as const
  const app = Fastify()
  await app.register(contentNegotiation)
  for (const [config, message] of cases) {
    t.throws(() => app.get('/orders', { config: config as never }, async () => []), { name: 'TypeError', message })
  }
})
