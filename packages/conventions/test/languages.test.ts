// A language that the suite does not have, at each place from which a text leaves the service.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ownTokens } from '@concordat/authentication'
import { testKit } from '@concordat/authentication/testing'
import conventions, { type ConventionsOptions, defineErrors, defineTexts, serverOptions, webhookRoutes } from '@concordat/conventions'
import { defineJob, jobRecordSchema } from '@concordat/jobs'
import { fileKeysOf } from '@concordat/plugin-kit/texts'
import { until } from '@concordat/test-harness/until'
import Fastify from 'fastify'
import t, { type Test } from 'tap'

const issuer = 'https://tokens.example.com'
const kit = testKit({ issuer, audience: 'shop' })
const permissions = ['webhooks:read', 'webhooks:create', 'webhooks:update', 'webhooks:delete', 'orders:write']
const events = { 'order.created': { description: 'An order was placed.', schema: { type: 'object', properties: {} }, example: {} } }
const Note = { type: 'object', required: ['id', 'text'], properties: { id: { type: 'string' }, text: { type: 'string' } } }
const Order = {
  type: 'object',
  required: ['items'],
  properties: { items: { type: 'array', minItems: 1, maxItems: 2000, items: { type: 'integer' } } }
}
const stock = defineErrors({
  OUT_OF_STOCK: {
    statusCode: 409,
    message: { en: { plural: 'left', one: 'Only {left} is left.', other: 'Only {left, number} are left.' } },
    remedy: ''
  }
})
const texts = defineTexts({
  due: { en: { plural: 'days', one: 'Due in {days} day, on {at, date}.', other: 'Due in {days} days, on {at, date}.' } }
})

async function start(t: Test, options: Partial<ConventionsOptions>) {
  const count = defineJob<{ left: number }, object>({
    name: 'count',
    input: { type: 'object', required: ['left'], properties: { left: { type: 'integer' } } },
    result: { type: 'object', properties: {} },
    handler: async ({ left }) => {
      throw stock.create('OUT_OF_STOCK', { params: { left } })
    }
  })
  const lines: string[] = []
  const stream = { write: (line: string) => void lines.push(line) }
  const app = Fastify({ ...serverOptions(), logger: { level: 'debug', stream } })
  t.teardown(() => app.close())
  await app.register(conventions, {
    publicUrl: 'https://api.example.com',
    versions: { 1: { status: 'current' } },
    transportSecurity: { dangerouslyAllowHttp: 'loopback' },
    authentication: { issuers: [ownTokens({ issuer, audience: 'shop', keys: kit.keys })], permissions },
    paginationQuery: { cursor: { secrets: ['fJ2mYp7Qw4Zt9LxN8vBc3KdR6sHg1TaE'] } },
    jobs: {},
    webhooks: { events, mayReceive: 'everyone', worker: false },
    errorCatalogue: { include: [stock] },
    texts: [texts],
    ...options
  })
  await app.apiVersion(1, async (v1) => {
    const config = { permissions: ['orders:write'], idempotency: 'accepted' } as const
    v1.post<{ Body: { items: number[] } }>('/orders', { config, schema: { body: Order, response: { 201: Note } } }, async ({ body }) => {
      throw stock.create('OUT_OF_STOCK', { params: { left: body.items[0] as number } })
    })
    v1.get('/notes/:id', { config: { public: true }, schema: { response: { 200: Note } } }, async (request) => ({
      id: 'due',
      text: request.text(texts, 'due', { days: 5, at: '2026-12-31T23:30:00Z' })
    }))
    v1.batch('/order-batches', { paths: ['/orders', '/notes'], config: { ...config, idempotency: 'accepted' } })
    v1.jobs.serve(count, '/counts', { config: { permissions: config.permissions } })
    v1.post<{ Body: { left: number } }>(
      '/counts',
      { config: { ...config, job: 'start' }, schema: { response: { '2xx': jobRecordSchema } } },
      async (request, reply) => reply.accepted(count, request.body)
    )
    await v1.register(webhookRoutes)
  })
  const token = kit.token({ sub: 'ada', scope: permissions.join(' ') })
  const send = async (method: 'GET' | 'HEAD' | 'POST', url: string, language: string, payload?: object, key?: string) => {
    const headers = {
      authorization: `Bearer ${token}`,
      'accept-language': language,
      ...(key !== undefined && { 'idempotency-key': key })
    }
    const response = await app.inject({ method, url, headers, ...(payload && { payload }) })
    return {
      ...response,
      headers: response.headers,
      body: response.body === '' ? undefined : response.json(),
      language: response.headers['content-language']
    }
  }
  return { app, send, lines }
}

/** A folder with a translation of each text that the service of these tests has: the language, the key and the placeholders. */
async function folderFor(t: Test, languages: readonly string[]) {
  const { app } = await start(t, { locales: ['en'] })
  const folder = join(t.testdir({}), 'locales')
  mkdirSync(folder)
  for (const language of languages) {
    const entries = [...app.errorCatalogue.texts].flatMap(([key, { en }]) => {
      const places = [...new Set(JSON.stringify(en).match(/\{\w+(?:, \w+)?\}/g))].join(' ')
      return fileKeysOf(key, en, language).map((one) => [one, `${language} ${one} ${places}`.trim()])
    })
    writeFileSync(join(folder, `${language}.json`), JSON.stringify(Object.fromEntries(entries)))
  }
  return folder
}

t.test(
  'a third language is spoken by errors, fields, batches, jobs, webhooks and texts; a replay keeps its first language [G1] [I3]',
  async (t) => {
    const translations = await folderFor(t, ['de', 'pl'])
    const { app, send, lines } = await start(t, { locales: ['en', 'de', 'pl'], translations, timeZone: 'Europe/Berlin' })

    t.match(await send('GET', '/v1/nowhere', 'de'), {
      statusCode: 404,
      language: 'de',
      body: { error: { message: 'de RESOURCE_NOT_FOUND' } }
    })
    const head = await send('HEAD', '/v1/nowhere', 'de')
    t.match([head.statusCode, head.language, head.body], [404, 'de', undefined])
    t.match(head.headers['vary'], 'accept-language')
    t.match((await send('POST', '/v1/orders', 'de', { items: [] })).body.error, {
      message: 'de VALIDATION_FAILED',
      errors: [{ field: 'body.items', message: 'de fields.minItems_one 1' }]
    })
    t.match((await send('POST', '/v1/orders', 'pl', { items: Array(5000).fill(1) })).body.error, { message: 'pl PAYLOAD_TOO_LARGE' })
    for (const [left, form] of [
      [1, 'one'],
      [2, 'few'],
      [5, 'many']
    ] as const)
      t.equal((await send('POST', '/v1/orders', 'pl', { items: [left] })).body.error.message, `pl OUT_OF_STOCK_${form} ${left} ${left}`)

    const key = 'a-key-of-16-chars'
    const first = await send('POST', '/v1/orders', 'de', { items: [1] }, key)
    t.match(first, { statusCode: 409, language: 'de', body: { error: { message: 'de OUT_OF_STOCK_one 1 1' } } })
    const replay = await send('POST', '/v1/orders', 'pl', { items: [1] }, key)
    t.match(replay, { statusCode: 409, language: 'de', body: first.body, headers: { 'idempotency-replayed': 'true' } })

    const operations = [
      { id: 'a', method: 'POST', path: '/v1/orders', body: { items: [3] } },
      { id: 'b', method: 'GET', path: '/v1/notes/due' }
    ]
    const { body: batch } = await send('POST', '/v1/order-batches', 'de', { operations })
    t.match(batch.data[0], {
      status: 409,
      headers: { 'content-language': 'de' },
      body: { error: { message: 'de OUT_OF_STOCK_other 3 3' } }
    })
    t.match(batch.data[1].body.data.text, /^de texts\.due_other 5 1\. Januar 2027$/)
    t.match((await send('POST', '/v1/order-batches', 'de', { operations: [] })).body.error, {
      message: 'de BATCH_INVALID',
      errors: [{ message: 'de fields.operations_other 100' }]
    })

    t.match((await send('POST', '/v1/counts', 'de', { left: 'x' })).body.error, {
      message: 'de JOB_INPUT_INVALID',
      errors: [{ field: 'body.left', message: 'de fields.type integer' }]
    })
    const { body: accepted } = await send('POST', '/v1/counts', 'de', { left: 1 })
    const record = async () => (await send('GET', `/v1/counts/${accepted.data.jobId}`, 'de')).body.data
    await until(async () => (await record()).status === 'failed')
    t.match((await record()).error, { message: 'Only 1 is left.' }, 'a stored error is as it was stored')

    const refused = await send('POST', '/v1/webhook-subscriptions', 'de', {
      url: 'http://hooks.example.com',
      eventTypes: ['order.created']
    })
    t.match(refused.body.error, { message: 'de WEBHOOK_URL_REFUSED', errors: [{ message: /^de fields\./ }] })

    const due = await send('GET', '/v1/notes/due', 'de')
    t.match(due, { statusCode: 200, language: 'de', body: { data: { text: 'de texts.due_other 5 1. Januar 2027' } } })
    t.match(due.headers['vary'], /accept-language/)
    const english = await send('GET', '/v1/notes/due', 'en')
    t.match(english, { language: 'en', body: { data: { text: 'Due in 5 days, on January 1, 2027.' } } })
    t.not(english.headers['etag'], due.headers['etag'])
    t.equal(lines.filter((line) => /\bde (?:\w+\.)?[A-Za-z_]+/.test(JSON.parse(line).msg)).length, 0, 'the log is in English')
    t.match(app.errorCatalogue.find('OUT_OF_STOCK')?.message['de'], { plural: 'left' })
  }
)

t.test('Accept-Language chooses a language, and each text falls back for itself [G1] [N6]', async (t) => {
  const translations = await folderFor(t, ['de', 'zh-Hant', 'pt'])
  writeFileSync(join(translations, 'de-AT.json'), JSON.stringify({ RESOURCE_NOT_FOUND: 'de-AT' }))
  const { send } = await start(t, { locales: ['en', 'de', 'de-AT', 'zh-Hant', 'pt'], translations })
  const cases = [
    ['de-AT', 'de-AT', 'de'],
    ['de-CH-1996', 'de', 'de'],
    ['zh-TW', 'zh-Hant', 'zh-Hant'],
    ['pt-PT', 'pt', 'pt'],
    ['*', 'en', 'en'],
    ['de;q=0, *', 'en', 'en'],
    ['de;q=0, pt;q=0.1', 'pt', 'pt'],
    ['fr', 'en', 'en'],
    ['e s, €', 'en', 'en'],
    ['', 'en', 'en']
  ] as const
  for (const [header, notFound, invalid] of cases) {
    t.equal((await send('GET', '/v1/nowhere', header)).language, notFound, header)
    t.equal((await send('POST', '/v1/orders', header, {})).language, invalid, header)
  }
})

t.test('a text that a language lacks stops the start, with all of them and the command', async (t) => {
  const { app } = await start(t, { locales: ['en', 'es', 'de'] })
  const error = await app.ready().then(
    () => new Error('It starts.'),
    (reason: Error) => reason
  )
  const lines = error.message.split('\n')
  t.match(
    lines[0],
    /^error-catalogue: \d+ texts are missing in options\.locales\. Run "npx concordat texts es de", and translate them in the folder of options\.translations:$/
  )
  t.strictSame(
    lines.filter((line) => line.includes('es:')),
    ['OUT_OF_STOCK_one', 'OUT_OF_STOCK_many', 'OUT_OF_STOCK_other', 'texts.due_one', 'texts.due_many', 'texts.due_other'].map(
      (key) => `  es: ${key}`
    )
  )
  t.ok(lines.length > 200)
})
