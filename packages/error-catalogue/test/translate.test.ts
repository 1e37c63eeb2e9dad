import errorCatalogue, { type ErrorCatalogueOptions, errorCatalogueServerOptions } from '@concordat/error-catalogue'
import { ApiError, defineErrors } from '@concordat/plugin-kit/api-error'
import Fastify from 'fastify'
import t from 'tap'

type Translate = NonNullable<ErrorCatalogueOptions['translate']>

const secret = 'canary-8f3a'

class NotFoundError extends Error {}
class LimitError extends Error {
  readonly statusCode = 400
}

const orders = defineErrors(
  { INVALID_ORDER: { statusCode: 422, message: { en: 'Not valid.', es: 'No válido.' }, remedy: 'Fix it.' } },
  { tooMany: { en: 'must be at most {limit}', es: 'debe ser como máximo {limit}' } }
)

async function service(translate: Translate, options: ErrorCatalogueOptions = {}) {
  const lines: { level: number; msg: string; err?: { message: string } }[] = []
  const app = Fastify({
    ...errorCatalogueServerOptions(),
    logger: { level: 'warn', stream: { write: (line: string) => void lines.push(JSON.parse(line)) } }
  })
  const thrown: { value: unknown } = { value: new NotFoundError('No order 7.') }
  await app.register(errorCatalogue, {
    translate,
    include: [orders],
    locale: ({ headers }) => String(headers['accept-language']),
    ...options
  })
  app.get('/', async () => {
    throw thrown.value
  })
  app.get('/sent', (_request, reply) => void reply.send(thrown.value))
  app.post('/', { schema: { body: { type: 'object', properties: { size: { type: 'integer' } } } } }, async () => 'ok')
  const at = (language = 'en', url = '/') => app.inject({ url, headers: { 'accept-language': language } })
  return { app, at, lines, thrown }
}

const definitions: readonly (readonly [string, ReturnType<Translate>, { en: object; es?: object; headers?: object }])[] = [
  [
    'one language: the text of the application in each',
    { statusCode: 404, code: 'ORDER_NOT_FOUND', message: 'No order {7}.' },
    { en: { status: 404, error: 'Not Found', message: 'No order {7}.', code: 'ORDER_NOT_FOUND' } }
  ],
  [
    'texts per language',
    { statusCode: 409, code: 'ORDER_PAID', message: { en: 'It is paid.', es: 'Está pagado.' } },
    {
      en: { status: 409, error: 'Conflict', message: 'It is paid.', code: 'ORDER_PAID' },
      es: { status: 409, error: 'Conflict', message: 'Está pagado.', code: 'ORDER_PAID' }
    }
  ],
  [
    'texts without the language of the client',
    { statusCode: 409, code: 'ORDER_PAID', message: { en: 'It is paid.' } },
    { en: { status: 409, error: 'Conflict', message: 'It is paid.', code: 'ORDER_PAID' } }
  ],
  [
    'only a status',
    { statusCode: 410 },
    {
      en: { status: 410, error: 'Gone', code: 'GONE', message: /^The resource was removed/ },
      es: { status: 410, code: 'GONE', message: /^El recurso se eliminó/ }
    }
  ],
  [
    'a code of the catalogue without a text',
    { statusCode: 422, code: 'INVALID_ORDER', errors: [{ field: 'body.size', message: { en: 'is odd', es: 'es impar' } }] },
    {
      en: {
        status: 422,
        error: 'Unprocessable Content',
        message: 'Not valid.',
        code: 'INVALID_ORDER',
        errors: [{ field: 'body.size', message: 'is odd' }]
      },
      es: { status: 422, message: 'No válido.', errors: [{ field: 'body.size', message: 'es impar' }] }
    }
  ],
  [
    'a field with one language',
    { statusCode: 400, errors: [{ field: 'body.size', message: 'is odd' }] },
    {
      en: { status: 400, errors: [{ field: 'body.size', message: 'is odd' }] },
      es: { errors: [{ field: 'body.size', message: 'is odd' }] }
    }
  ],
  [
    'a text of an outage, with a header',
    {
      statusCode: 503,
      code: 'SUPPLIER_CLOSED',
      message: 'The supplier is closed.',
      headers: { 'Retry-After': '3600', 'x-reason': 'holiday' }
    },
    {
      en: { status: 503, message: 'The supplier is closed.', code: 'SUPPLIER_CLOSED' },
      headers: { 'retry-after': '3600', 'x-reason': 'holiday' }
    }
  ],
  [
    'an ApiError of a list',
    orders.create('INVALID_ORDER', { errors: [{ field: 'body.size', key: 'tooMany', params: { limit: 3 } }] }),
    {
      en: { status: 422, message: 'Not valid.', code: 'INVALID_ORDER', errors: [{ field: 'body.size', message: 'must be at most 3' }] },
      es: { message: 'No válido.', errors: [{ field: 'body.size', message: 'debe ser como máximo 3' }] }
    }
  ]
]

t.test('an error of the application is sent as translate returns it, in the language of the client', async (t) => {
  for (const [title, result, { en, es = en, headers = {} }] of definitions) {
    const { at } = await service((error) => (error instanceof NotFoundError ? result : undefined))
    for (const url of ['/', '/sent']) {
      const english = await at('en', url)
      t.match(english.json().error, en, title)
      t.equal(english.statusCode, english.json().error.status)
      t.match(english.headers, headers, title)
      t.match((await at('es', url)).json().error, es, title)
    }
  }
})

t.test('translate gets every error that the suite does not know, with its request, and no other', async (t) => {
  const seen: unknown[] = []
  const { app, at, thrown } = await service((error, request) => {
    seen.push(error)
    return { statusCode: 402, code: 'TRANSLATED', message: request.url }
  })
  const duplicate = Object.assign(new Error(secret), { code: '23505', severity: 'ERROR' })
  const plugin = Object.assign(new Error(secret), { code: 'FST_REQ_FILE_TOO_LARGE', statusCode: 413 })
  for (const value of [new NotFoundError(secret), new LimitError(secret), duplicate, plugin, secret, 7, Object.freeze(new Error(secret))]) {
    thrown.value = value
    t.match((await at()).json().error, { status: 402, code: 'TRANSLATED', message: '/' })
    t.strictSame(seen.splice(0), [value], 'it is called once for a request')
  }
  thrown.value = new ApiError(409, 'KNOWN', 'Known.')
  t.match((await at()).json().error, { code: 'KNOWN' })
  thrown.value = Object.assign(new Error(secret), { code: 'FST_ERR_HANDLER_TIMEOUT' })
  t.match((await at()).json().error, { code: 'HANDLER_TIMEOUT' })
  const post = (payload: string) => app.inject({ method: 'POST', url: '/', payload, headers: { 'content-type': 'application/json' } })
  t.match((await post('{"size":"x"}')).json().error, { status: 422, errors: [{ field: 'body.size' }] })
  t.match((await post('{')).json().error, { code: 'MALFORMED_JSON' })
  t.match((await app.inject('/nowhere')).json().error, { code: 'RESOURCE_NOT_FOUND' })
  t.match((await app.inject('/%zz')).json().error, { code: 'MALFORMED_URI' })
  t.strictSame(seen, [])
})

t.test('what translate does not know is handled as without it', async (t) => {
  const { at, thrown, lines } = await service(() => undefined)
  t.match((await at()).json().error, { status: 500, code: 'INTERNAL_ERROR' })
  thrown.value = new LimitError(secret)
  const limited = await at()
  t.match(limited.json().error, { status: 400 })
  t.notMatch(limited.body, secret)
  thrown.value = Object.assign(new Error(secret), { code: '23505', severity: 'ERROR' })
  t.match((await at()).json().error, { status: 409, code: 'CONFLICT' })
  t.equal(lines.length, 1)
})

const invalid: readonly (readonly [string, () => unknown])[] = [
  ['a text', () => secret],
  ['null', () => null],
  ['a promise', () => Promise.reject(new Error(secret))],
  ['an error of another kind', () => new Error(secret)],
  ['no status', () => ({ code: 'A', message: secret })],
  ['a success', () => ({ statusCode: 200, message: secret })],
  ['an unregistered status', () => ({ statusCode: 499, message: secret })],
  ['a status that is a text', () => ({ statusCode: '404', message: secret })],
  ['a code that is not in UPPER_SNAKE_CASE', () => ({ statusCode: 404, code: 'not found', message: secret })],
  ['a message that is a number', () => ({ statusCode: 404, message: 7 })],
  ['texts without English', () => ({ statusCode: 404, message: { es: secret } })],
  ['a text that is a number', () => ({ statusCode: 404, message: { en: secret, es: 7 } })],
  ['errors that are not a list', () => ({ statusCode: 422, errors: secret })],
  ['a field without a name', () => ({ statusCode: 422, errors: [{ message: secret }] })],
  ['a field without a message', () => ({ statusCode: 422, errors: [{ field: 'body.size' }] })],
  ['headers that are not an object', () => ({ statusCode: 404, headers: secret })],
  ['a header that is not a text', () => ({ statusCode: 404, headers: { 'x-a': {} } })],
  ['a misspelt member', () => ({ statusCode: 404, mesage: secret })],
  [
    'a member that throws',
    () => ({
      get statusCode() {
        throw new Error(secret)
      }
    })
  ],
  [
    'an exception',
    () => {
      throw new Error(secret)
    }
  ]
]

t.test('a translate that throws or returns something else is a 500, and one line names the option', async (t) => {
  for (const [title, translate] of invalid) {
    const { at, lines } = await service(translate as Translate)
    const response = await at()
    t.match(response.json().error, { status: 500, code: 'INTERNAL_ERROR' }, title)
    t.notMatch(response.body, secret, title)
    t.equal(lines.filter(({ msg }) => msg.startsWith('error-catalogue: options.translate ')).length, 1, title)
    await at()
    t.equal(lines.filter(({ msg }) => msg.startsWith('error-catalogue: options.translate ')).length, 1, `${title}: once for the same fault`)
  }
})

t.test('an error that becomes a 5xx is logged with its own message, and one that becomes a 4xx is not', async (t) => {
  const { at, lines, thrown } = await service((error) => ({ statusCode: error instanceof NotFoundError ? 404 : 502 }))
  await at()
  t.strictSame(lines, [])
  thrown.value = new Error('the supplier is down')
  await at()
  t.match(lines, [{ level: 50, err: { message: 'the supplier is down' } }])
})

t.test('translate that is not a function stops the start', async (t) => {
  await t.rejects(async () => Fastify().register(errorCatalogue, { translate: {} as never }), {
    message: /^error-catalogue: options\.translate must be a function that /
  })
})
