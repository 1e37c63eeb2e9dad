import errorCatalogue, { errorCatalogueServerOptions } from '@concordat/error-catalogue'
import { defineErrors } from '@concordat/plugin-kit/api-error'
import Fastify from 'fastify'
import t from 'tap'

// A valid value of each format, and one that is longer than any client needs.
const formats: Readonly<Record<string, readonly [valid: string, long: string]>> = {
  'date-time': ['2026-01-31T12:00:00.123456789+01:00', `2026-01-31T12:00:00.${'1'.repeat(64)}Z`],
  time: ['12:00:00.123Z', `12:00:00.${'1'.repeat(64)}Z`],
  duration: ['P1DT2H', `P${'1'.repeat(64)}D`],
  email: ['ada@example.com', `${'a'.repeat(250)}@b.example`],
  uuid: ['urn:uuid:018f4e2a-7c1b-7d3e-9a5f-0123456789ab', '']
}

t.test('refuses a text in a format of limited length that is longer, unless its schema has a limit of its own [U13]', async (t) => {
  for (const [format, [valid, long]] of Object.entries(formats)) {
    const app = Fastify(errorCatalogueServerOptions())
    await app.register(errorCatalogue)
    const value = { type: 'string', format }
    const body = { type: 'object', properties: { value, wide: { ...value, maxLength: 1000 } } }
    app.post(`/${format}`, { schema: { body, querystring: { type: 'object', properties: { value } } } }, async () => 'ok')
    const send = (payload: object, query = '') => app.inject({ method: 'POST', url: `/${format}${query}`, payload })
    t.equal((await send({ value: valid }, `?value=${encodeURIComponent(valid)}`)).statusCode, 200, format)
    if (long === '') continue
    t.equal((await send({ wide: long })).statusCode, 200, format)
    const refused = (await send({ value: long })).json().error
    t.match(refused, { status: 422, errors: [{ field: 'body.value', message: /at most \d+ characters/ }] }, format)
    t.equal((await send({}, `?value=${long}`)).statusCode, 422, format)
  }
})

t.test('shortens texts in an error that are longer than its description says [E4]', async (t) => {
  const app = Fastify(errorCatalogueServerOptions())
  await app.register(errorCatalogue)
  const body = { type: 'object', additionalProperties: false, properties: { known: { type: 'string' } } }
  app.post('/', { schema: { body } }, async () => 'ok')
  const { errors } = (await app.inject({ method: 'POST', url: '/', payload: { ['😀'.repeat(5000)]: 1 } })).json().error
  t.ok(errors[0].field.length <= 1024, 'field')
  t.ok(errors[0].field.isWellFormed(), errors[0].field.slice(-3))
  t.ok(errors[0].message.length <= 2048, 'message')
  const list = defineErrors({ LONG: { statusCode: 400, message: { en: '{text}', es: '{text}' }, remedy: 'None.' } })
  const other = Fastify(errorCatalogueServerOptions())
  await other.register(errorCatalogue, { include: [list] })
  other.get('/', async () => {
    throw list.create('LONG', { params: { text: '😀'.repeat(5000) } })
  })
  const { message } = (await other.inject('/')).json().error
  t.strictSame([message.length, message.isWellFormed()], [2048, true])
})
