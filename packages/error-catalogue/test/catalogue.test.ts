import { STATUS_CODES } from 'node:http'
import errorCatalogue, { type ErrorCatalogueOptions, errorCatalogueErrors, errorCatalogueServerOptions } from '@concordat/error-catalogue'
import { defineErrors } from '@concordat/plugin-kit/api-error'
import Fastify from 'fastify'
import t from 'tap'

async function catalogueOf(options: ErrorCatalogueOptions = {}) {
  const app = Fastify({ ...errorCatalogueServerOptions() })
  await app.register(errorCatalogue, options)
  return app.errorCatalogue
}

const orders = defineErrors(
  {
    OUT_OF_STOCK: { statusCode: 409, message: { en: 'Only {left} are left.', es: 'Solo quedan {left}.' }, remedy: 'Order fewer.' },
    INVALID_ORDER: { statusCode: 422, message: { en: 'Not valid.', es: 'No válido.' }, remedy: 'Fix it.' },
    RESOURCE_NOT_FOUND: { statusCode: 404, message: { en: 'No order.', es: 'Sin pedido.' }, remedy: 'Look elsewhere.' }
  },
  { tooMany: { en: 'must be at most {limit}', es: 'debe ser como máximo {limit}' }, required: { en: 'other', es: 'otro' } }
)

t.test('every entry of its list is complete in English and Spanish and has a registered status code [X2] [X3]', async (t) => {
  for (const [code, { statusCode, message, remedy }] of Object.entries(errorCatalogueErrors.definitions)) {
    t.match(STATUS_CODES[statusCode], String, `${code}: status ${statusCode}`)
    t.strictSame(Object.keys(message), ['en', 'es'], code)
    for (const text of [message.en, message['es'], remedy]) t.match(text, /^\S[^]{10,}\.$/, `${code}: a sentence`)
    t.not(message['es'], message.en, `${code}: translated`)
  }
  for (const [key, messages] of Object.entries(errorCatalogueErrors.fieldMessages)) {
    t.strictSame(Object.keys(messages), ['en', 'es'], key)
    t.not(messages['es'], messages.en, `${key}: translated`)
  }
})

t.test('lists exactly these error codes with their status codes [X1]', async (t) => {
  const { entries } = await catalogueOf()
  t.strictSame(
    entries.map(({ statusCode, code }) => `${statusCode} ${code}`),
    [
      '400 CLIENT_NOT_IDENTIFIED',
      '400 CONTENT_LENGTH_MISMATCH',
      '400 DUPLICATE_HEADER',
      '400 EMPTY_BODY',
      '400 INVALID_HOST',
      '400 INVALID_UTF8',
      '400 JSON_TOO_DEEP',
      '400 MALFORMED_JSON',
      '400 MALFORMED_MULTIPART',
      '400 MALFORMED_REQUEST',
      '400 MALFORMED_URI',
      '400 MISSING_HOST',
      '401 AUTHENTICATION_REQUIRED',
      '403 FORBIDDEN',
      '403 HTTPS_REQUIRED',
      '404 RESOURCE_NOT_FOUND',
      '405 METHOD_NOT_ALLOWED',
      '406 NOT_ACCEPTABLE',
      '408 REQUEST_TIMEOUT',
      '409 CONFLICT',
      '410 GONE',
      '412 PRECONDITION_FAILED',
      '413 PAYLOAD_TOO_LARGE',
      '414 URI_TOO_LONG',
      '415 UNSUPPORTED_MEDIA_TYPE',
      '417 EXPECTATION_FAILED',
      '422 VALIDATION_FAILED',
      '429 RATE_LIMIT_EXCEEDED',
      '431 HEADERS_TOO_LARGE',
      '500 INTERNAL_ERROR',
      '501 METHOD_NOT_IMPLEMENTED',
      '501 TRANSFER_CODING_NOT_IMPLEMENTED',
      '502 UPSTREAM_ERROR',
      '503 HANDLER_TIMEOUT',
      '503 SERVICE_UNAVAILABLE',
      '504 UPSTREAM_TIMEOUT',
      '505 HTTP_VERSION_NOT_SUPPORTED'
    ]
  )
})

t.test('merges lists; the first text of an error code or field wins', async (t) => {
  const catalogue = await catalogueOf({ include: [orders, orders] })
  t.match(catalogue.find('OUT_OF_STOCK'), { code: 'OUT_OF_STOCK', statusCode: 409, remedy: 'Order fewer.' })
  t.equal(catalogue.find('RESOURCE_NOT_FOUND')?.message.en, errorCatalogueErrors.definitions['RESOURCE_NOT_FOUND']?.message.en)
  t.equal(catalogue.entries.filter(({ code }) => code === 'RESOURCE_NOT_FOUND').length, 1)
  t.equal(catalogue.fieldText('tooMany', 'es', { limit: 3 }), 'debe ser como máximo 3')
  t.equal(catalogue.fieldText('required', 'en', {}), 'is required')
  t.equal(catalogue.fieldText('required', 'fr', {}), 'is required')
  t.equal(catalogue.fieldText('toString', 'en', {}), undefined)
  t.equal(catalogue.find('constructor'), undefined)
})

t.test('an error code with two status codes or a missing text in a language stops the start', async (t) => {
  const message = { en: 'A conflict.', es: 'Un conflicto.' }
  const clash = defineErrors({ CONFLICT: { statusCode: 410, message, remedy: '-' } })
  await t.rejects(catalogueOf({ include: [clash] }), /CONFLICT is defined twice, with the status codes 409 and 410. Rename one of the two./)
  const english = defineErrors({ TOO_BAD: { statusCode: 409, message: { en: 'Too bad.' }, remedy: '-' } })
  await t.rejects(catalogueOf({ include: [english] }), /TOO_BAD has no text in "es". Add it, or change options.locales./)
  for (const include of [{}, { TOO_BAD: {} }, 'errors', null, [english.definitions], [undefined]])
    await t.rejects(catalogueOf({ include: include as never }), {
      message: 'error-catalogue: options.include must be an array of error lists, for example [defineErrors({ … })].'
    })
  for (const locales of ['en', { en: true }, [1], [null], ['English (UK)'], [`en-${'abcdefgh-'.repeat(4)}a`]])
    await t.rejects(catalogueOf({ locales: locales as never }), {
      message: 'error-catalogue: options.locales must be an array of language tags, for example ["en", "pt-BR"].'
    })
  t.ok((await catalogueOf({ include: [english], locales: ['en'] })).find('TOO_BAD'))
  const fields = defineErrors({}, { tooMany: { en: 'too many' } })
  await t.rejects(catalogueOf({ include: [fields] }), /tooMany has no text in "es"/)
  await t.rejects(catalogueOf({ locales: ['fr', 'de'] }), /has no text in "fr", "de"/)
})

t.test('the first of the locales is the default language of responses', async (t) => {
  const app = Fastify({ ...errorCatalogueServerOptions() })
  await app.register(errorCatalogue, { locales: ['es'] })
  t.strictSame(app.errorCatalogue.locales, ['es'])
  const response = await app.inject('/nowhere')
  t.equal(response.headers['content-language'], 'es')
  t.match(response.json().error.message, /^No se encontró el recurso/)
})

t.test('every status code has a general entry, even if no list defines it', async (t) => {
  const catalogue = await catalogueOf({ include: [orders] })
  const codes = [400, 404, 409, 422, 401, 429, 451, 500, 501, 503, 507, 418, 499, 599].map((status) => catalogue.ofStatus(status).code)
  t.strictSame(codes, [
    'MALFORMED_REQUEST',
    'RESOURCE_NOT_FOUND',
    'CONFLICT',
    'VALIDATION_FAILED',
    'AUTHENTICATION_REQUIRED',
    'RATE_LIMIT_EXCEEDED',
    'UNAVAILABLE_FOR_LEGAL_REASONS',
    'INTERNAL_ERROR',
    'METHOD_NOT_IMPLEMENTED',
    'SERVICE_UNAVAILABLE',
    'INSUFFICIENT_STORAGE',
    'I_M_A_TEAPOT',
    'MALFORMED_REQUEST',
    'INTERNAL_ERROR'
  ])
  t.equal(catalogue.ofStatus(401), catalogue.ofStatus(401), 'created once')
})

t.test('a list can add another language for existing error codes and fields', async (t) => {
  const definitions = Object.entries(errorCatalogueErrors.definitions).map(([code, definition]) => {
    const places = (definition.message.en.match(/\{\w+\}/g) ?? []).join(' ')
    return [code, { ...definition, message: { en: `never shown ${places}`, fr: `${code} ${places}` } }] as const
  })
  const fields = Object.entries(errorCatalogueErrors.fieldMessages).map(([key, { en }]) => [key, { en, fr: `fr ${en}` }] as const)
  const app = Fastify({ ...errorCatalogueServerOptions() })
  const include = [defineErrors(Object.fromEntries(definitions), Object.fromEntries(fields))]
  await app.register(errorCatalogue, { include, locales: ['en', 'fr'], locale: ({ headers }) => headers['accept-language'] ?? 'en' })
  const body = { type: 'object', required: ['a'], properties: { a: { type: 'string' } } }
  app.post('/', { schema: { body } }, async () => 'fine')
  const received = await app.inject({ method: 'POST', url: '/', headers: { 'accept-language': 'fr' }, body: {} })
  t.match(received.json().error, { message: /^VALIDATION_FAILED/, errors: [{ field: 'body.a', message: 'fr is required' }] })
  t.equal(received.headers['content-language'], 'fr')
  t.match((await app.inject('/nowhere')).json().error.message, /^The resource was not found/)
})
