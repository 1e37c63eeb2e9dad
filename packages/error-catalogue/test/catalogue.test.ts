import { STATUS_CODES } from 'node:http'
import errorCatalogue, { type ErrorCatalogueOptions, errorCatalogueErrors, errorCatalogueServerOptions } from '@concordat/error-catalogue'
import { defineErrors } from '@concordat/plugin-kit/api-error'
import { formsOf } from '@concordat/plugin-kit/texts'
import Fastify from 'fastify'
import t from 'tap'

async function catalogueOf(options: ErrorCatalogueOptions = {}) {
  const app = Fastify({ ...errorCatalogueServerOptions() })
  await app.register(errorCatalogue, options)
  await app.ready()
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
    const forms = [message.en, message['es'] as string].flatMap((text) => Object.values(formsOf(text)))
    for (const text of [...forms, remedy]) t.match(text, /^\S[^]{10,}\.$/, `${code}: a sentence`)
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
  await t.rejects(
    catalogueOf({ include: [english] }),
    /^error-catalogue: 1 text is missing in options\.locales\. Run "npx concordat texts es", .*:\n {2}es: TOO_BAD$/
  )
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
  await t.rejects(catalogueOf({ include: [fields] }), /\n {2}es: fields\.tooMany$/)
  await t.rejects(catalogueOf({ locales: ['fr', 'de'] }), /Run "npx concordat texts fr de".*\n {2}fr: \w[^]*\n {2}de: GONE\n/)
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
