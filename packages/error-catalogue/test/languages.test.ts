import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import errorCatalogue, {
  defineErrors,
  defineTexts,
  type ErrorCatalogueOptions,
  errorCatalogueServerOptions
} from '@concordat/error-catalogue'
import { ApiError } from '@concordat/plugin-kit/api-error'
import { fileKeysOf, type Messages } from '@concordat/plugin-kit/texts'
import Fastify, { type FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'

const orders = defineErrors(
  {
    OUT_OF_STOCK: {
      statusCode: 409,
      message: { en: { plural: 'left', one: 'Only {left} is left.', other: 'Only {left, number} are left.' } },
      remedy: ''
    },
    // The text of the suite for this code is another one.
    RESOURCE_NOT_FOUND: { statusCode: 404, message: { en: 'No order.' }, remedy: '' }
  },
  { tooRude: { en: 'must not have the word {word}' } }
)
const texts = defineTexts({
  tooMany: { en: { plural: 'limit', one: 'Send at most {limit} file.', other: 'Send at most {limit, number} files.' } },
  expired: { en: 'Expired on {at, date}.' },
  hello: { en: 'Hello', de: 'Hallo' }
})

/** Every text of the service in a language: its key, its form and its placeholders. */
async function complete(language: string, changes: Readonly<Record<string, string | undefined>> = {}): Promise<Record<string, string>> {
  const app = Fastify({ ...errorCatalogueServerOptions() })
  await app.register(errorCatalogue, { include: [orders], texts: [texts], locales: ['en'] })
  const file: Record<string, string> = {}
  for (const [key, { en }] of app.errorCatalogue.texts) {
    const places = [...new Set(JSON.stringify(en).match(/\{\w+(?:, \w+)?\}/g))].join(' ')
    for (const one of fileKeysOf(key, en, language)) file[one] = `${language} ${one} ${places}`
  }
  await app.close()
  return JSON.parse(JSON.stringify({ ...file, ...changes }))
}

function folderOf(t: Test, files: Readonly<Record<string, unknown>>): string {
  const folder = join(t.testdir({}), 'locales')
  mkdirSync(folder)
  for (const [name, content] of Object.entries(files))
    writeFileSync(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content))
  return folder
}

const locale: ErrorCatalogueOptions['locale'] = ({ headers }) => headers['accept-language'] ?? ''

async function service(t: Test, options: ErrorCatalogueOptions, addRoutes: (app: FastifyInstance) => void = () => {}) {
  const lines: string[] = []
  const stream = { write: (line: string) => void lines.push(JSON.parse(line).msg) }
  const app = Fastify({ ...errorCatalogueServerOptions(), logger: { level: 'warn', stream } })
  await app.register(errorCatalogue, { include: [orders], texts: [texts], locale, ...options })
  const body = { type: 'object', required: ['a'], properties: { a: { type: 'array', minItems: 1, maxItems: 5000 } } }
  app.post('/', { schema: { body } }, async () => 'fine')
  addRoutes(app)
  t.teardown(() => app.close())
  await app.ready()
  return { app, lines }
}

t.test('a third language is added by a file, for every kind of text [G1]', async (t) => {
  const spanish = Object.entries(await complete('es')).filter(([key]) => /^(OUT_OF|fields\.tooRude|texts)/.test(key))
  const translations = folderOf(t, { 'de.json': await complete('de'), 'es.json': Object.fromEntries(spanish) })
  const { app } = await service(
    t,
    { locales: ['en', 'es', 'de'], translations: pathToFileURL(`${translations}/`), include: [orders] },
    addRoutes
  )
  const ask = async (url: string, language = 'de', method: 'GET' | 'POST' | 'HEAD' = 'GET', payload?: object) => {
    const { headers, body } = await app.inject({ method, url, headers: { 'accept-language': language }, ...(payload && { payload }) })
    const { message, errors = [] } = body === '' ? {} : JSON.parse(body).error
    return [headers['content-language'], message, ...errors.map((error: { message: string }) => error.message)]
  }
  t.strictSame(await ask('/stock/1'), ['de', 'de OUT_OF_STOCK_one 1 1'])
  t.strictSame(await ask('/stock/2000'), ['de', 'de OUT_OF_STOCK_other 2000 2.000'])
  t.strictSame(await ask('/stock/2000', 'en'), ['en', 'Only 2,000 are left.'])
  t.strictSame(await ask('/nowhere'), ['de', 'de RESOURCE_NOT_FOUND '])
  t.strictSame(await ask('/nowhere', 'de', 'HEAD'), ['de', undefined])
  t.strictSame(await ask('/', 'de', 'POST', { a: [] }), ['de', 'de VALIDATION_FAILED ', 'de fields.minItems_one 1'])
  t.strictSame(await ask('/', 'de', 'POST', { a: Array(5001).fill(1) }), ['de', 'de VALIDATION_FAILED ', 'de fields.maxItems_other 5.000'])
  t.strictSame((await ask('/', 'es', 'POST', { a: [] }))[2], 'debe tener al menos 1 elemento')
  t.strictSame(await ask('/rude'), ['de', 'de VALIDATION_FAILED ', 'de fields.tooRude darn {word}'])
  t.strictSame(await ask('/status/418'), ['de', "de general.phrase I'm a Teapot"])
  t.strictSame(await ask('/status/401'), ['de', 'de general.AUTHENTICATION_REQUIRED '])
  t.strictSame(await ask('/header'), ['de', 'de general.headerMissing ', 'de fields.required '])
  t.strictSame(await ask('/own'), ['en', 'Only here.'], 'a message that no list has is sent in its language')
  t.strictSame(await ask('/own', 'es'), ['es', 'Solo aquí.'])
  t.strictSame(await ask('/order'), ['de', 'de RESOURCE_NOT_FOUND '])
  t.strictSame(await ask('/order', 'en'), ['en', 'No order.'])
  t.strictSame(await ask('/text', 'de'), ['de', 'de general.phrase Conflict'].with(1, 'de CONFLICT '))
})

const thrower = (error: () => unknown) => async () => {
  throw error()
}

function addRoutes(app: FastifyInstance) {
  app.get<{ Params: { left: string } }>('/stock/:left', async ({ params }) => {
    throw orders.create('OUT_OF_STOCK', { params: { left: Number(params.left) } })
  })
  app.get(
    '/order',
    thrower(() => orders.create('RESOURCE_NOT_FOUND'))
  )
  app.get(
    '/rude',
    thrower(
      () =>
        new ApiError(422, 'VALIDATION_FAILED', '', {
          errors: [{ field: 'body.a', key: 'tooRude', params: { word: 'darn {word}' }, message: '' }]
        })
    )
  )
  app.get(
    '/own',
    thrower(() => new ApiError(409, 'OWN_CODE', 'Only here.', { messages: { en: 'Only here.', es: 'Solo aquí.' } }))
  )
  app.get(
    '/text',
    thrower(() => Object.assign(new Error('secret'), { statusCode: 409 }))
  )
  app.get(
    '/header',
    { schema: { headers: { type: 'object', required: ['x-a'], properties: { 'x-a': { type: 'string' } } } } },
    async () => 'fine'
  )
  app.get<{ Params: { status: string } }>('/status/:status', async ({ params }) => {
    throw Object.assign(new Error('secret'), { statusCode: Number(params.status) })
  })
}

t.test('a text is looked up in the locale, its parents, the default and English, each for itself [G1]', async (t) => {
  const own = defineErrors({
    A: { statusCode: 409, message: { en: 'en', es: 'es', de: 'de', 'zh-Hant': 'zh-Hant', pt: 'pt', fr: 'fr' }, remedy: '' },
    B: { statusCode: 409, message: { en: 'en', fr: 'fr' }, remedy: '' }
  })
  const cases: readonly (readonly [locales: readonly string[], asked: string, a: string, b: string])[] = [
    [['en', 'de-AT'], 'de-AT', 'de', 'en'],
    [['en', 'de-CH-1996'], 'de-CH-1996', 'de', 'en'],
    [['en', 'DE-at'], 'DE-at', 'de', 'en'],
    [['en', 'zh-TW'], 'zh-TW', 'zh-Hant', 'en'],
    [['en', 'zh-Hant-HK'], 'zh-Hant-HK', 'zh-Hant', 'en'],
    [['en', 'pt-PT'], 'pt-PT', 'pt', 'en'],
    [['fr-CA', 'de'], 'de', 'de', 'fr'],
    [['fr-CA', 'de'], 'es', 'fr', 'fr'],
    [['it', 'de'], 'it', 'en', 'en']
  ]
  for (const [locales, asked, a, b] of cases) {
    const files = Object.fromEntries(await Promise.all(locales.map(async (locale) => [`${locale}.json`, await complete(locale)])))
    const { app } = await service(t, { locales, translations: folderOf(t, files) }, (instance) => {
      for (const code of ['A', 'B'] as const)
        instance.get(`/${code}`, async () => {
          throw own.create(code)
        })
    })
    for (const [code, language] of [
      ['A', a],
      ['B', b]
    ] as const) {
      const { headers, body } = await app.inject({ url: `/${code}`, headers: { 'accept-language': asked } })
      t.strictSame(
        [headers['content-language'], JSON.parse(body).error.message],
        [language, language],
        `${locales.join()} ${asked} ${code}`
      )
    }
  }
})

t.test('a parent is translated once, and a file may replace texts of the suite', async (t) => {
  const files = {
    'de.json': await complete('de'),
    'DE-AT.json': { GONE: 'Nimmer da.', OUT_OF_STOCK_one: 'Nur eins.', OUT_OF_STOCK_other: '' },
    'es.json': { GONE: 'Ya no está.', ...(await complete('es', { GONE: undefined })) },
    'en.json': { GONE: 'stale' },
    'fr.json': 'not read'
  }
  const { app, lines } = await service(t, { locales: ['en', 'de', 'de-AT', 'es'], translations: folderOf(t, files) }, (instance) => {
    addRoutes(instance)
    instance.get('/gone', async () => {
      throw orders.create('OUT_OF_STOCK', { params: { left: 1 } })
    })
    instance.get('/status', async () => {
      throw Object.assign(new Error('secret'), { statusCode: 410 })
    })
  })
  const messageOf = async (url: string, language: string) => {
    const { headers, body } = await app.inject({ url, headers: { 'accept-language': language } })
    return [headers['content-language'], JSON.parse(body).error.message]
  }
  t.strictSame(await messageOf('/status', 'de-AT'), ['de-AT', 'Nimmer da.'])
  t.strictSame(await messageOf('/status', 'es'), ['es', 'Ya no está.'])
  t.strictSame(await messageOf('/status', 'en'), ['en', 'The resource was removed permanently. Remove references to it.'])
  t.strictSame(await messageOf('/gone', 'de-AT'), ['de', 'de OUT_OF_STOCK_one 1 1'], 'a plural with a missing form is not translated')
  t.strictSame(lines, [])
})

t.test('request.text returns a text in the language of the request, and names it for caches [G1]', async (t) => {
  const at = '2026-03-01T23:30:00Z'
  const { app } = await service(
    t,
    {
      locales: ['en', 'de'],
      translations: folderOf(t, { 'de.json': await complete('de', { 'texts.hello': undefined }) }),
      timeZone: 'Europe/Berlin'
    },
    (instance) => {
      instance.get('/', async (request) => [
        request.text(texts, 'tooMany', { limit: 1 }),
        request.text(texts, 'tooMany', { limit: 2000n }),
        request.text(texts, 'expired', { at }),
        request.text(texts, 'hello')
      ])
      instance.get('/named', async (request, reply) => {
        reply.header('content-language', 'de, en').header('vary', 'origin')
        return request.text(texts, 'hello')
      })
      instance.get('/vary', async (request, reply) => {
        reply.header('vary', 'Origin')
        return request.text(texts, 'hello')
      })
      instance.get('/none', async () => 'fine')
      instance.get('/unknown', async (request) => request.text(texts, 'nothing' as 'hello'))
      instance.get('/inherited', async (request) => request.text(texts, 'toString' as 'hello'))
      instance.get('/other', async (request) => request.text(defineTexts({ hello: { en: 'Hello' } }), 'hello'))
    }
  )
  const ask = (url: string, language: string) => app.inject({ url, headers: { 'accept-language': language } })
  const english = await ask('/', 'en')
  t.strictSame(english.json(), ['Send at most 1 file.', 'Send at most 2,000 files.', 'Expired on March 2, 2026.', 'Hello'])
  t.match(english.headers, { 'content-language': 'en', vary: 'accept-language' })
  const german = await ask('/', 'de')
  t.strictSame(german.json(), ['de texts.tooMany_one 1 1', 'de texts.tooMany_other 2000 2.000', 'de texts.expired 2. März 2026', 'Hallo'])
  t.equal(german.headers['content-language'], 'de')
  t.equal((await ask('/', 'xx')).headers['content-language'], 'en', 'a language that the service does not have')
  t.match((await ask('/named', 'de')).headers, { 'content-language': 'de, en', vary: 'origin' })
  t.equal((await ask('/vary', 'de')).headers['vary'], 'origin, accept-language')
  t.equal((await ask('/none', 'de')).headers['content-language'], undefined)
  for (const url of ['/unknown', '/inherited', '/other']) t.equal((await ask(url, 'de')).statusCode, 500, url)
})

t.test('invalid texts, files and options stop the start with one line', async (t) => {
  const files: readonly (readonly [content: unknown, message: RegExp])[] = [
    ['{', /^error-catalogue: .*de\.json is not valid JSON: .*\. Correct it, or write it again with npx concordat texts\.$/],
    ['[]', /de\.json is not a JSON object of texts by key/],
    [{ fields: { required: 'x' } }, /has a value at "fields" that is not a text\. Keys are flat, such as "fields\.required"/],
    [
      await complete('de', { OUT_OF_STOCK_few: 'x' }),
      /^error-catalogue: de\.json: OUT_OF_STOCK_few has the plural form "few", which OUT_OF_STOCK does not have in "de"\. Use OUT_OF_STOCK_one, OUT_OF_STOCK_other\.$/
    ],
    [await complete('de', { GONE_one: 'x' }), /GONE_one has the plural form "one", which GONE does not have in "de"\. Use GONE\.$/],
    [
      await complete('de', { GONE: 'Weg: {what}' }),
      /^error-catalogue: de\.json: the placeholders of GONE differ: "en" has none, "de" has \{what\}/
    ],
    [await complete('de', { 'texts.expired': 'Bis {at}' }), /"en" has \{at, date\}, "de" has \{at\}/],
    [
      await complete('de', { GONE: '', OUT_OF_STOCK_one: undefined, 'fields.required': undefined }),
      /^error-catalogue: 3 texts are missing in options\.locales\. Run "npx concordat texts de", and translate them in the folder of options\.translations:(\n {2}de: (GONE|OUT_OF_STOCK_one|fields\.required)){3}$/
    ]
  ]
  for (const [content, message] of files)
    await t.rejects(service(t, { locales: ['en', 'de'], translations: folderOf(t, { 'de.json': content }) }), { message }, String(message))
  const options: readonly (readonly [options: object, message: RegExp])[] = [
    [{ translations: 'locales' }, /options\.translations must be an absolute path or a file URL, for example new URL/],
    [{ translations: new URL('https://a.example/') }, /options\.translations must be/],
    [{ translations: 7 }, /options\.translations must be/],
    [{ translations: import.meta.filename }, /the folder of options\.translations cannot be read: ENOTDIR/],
    [{ locales: ['en', 'xx'] }, /options\.locales has "xx", a language that Intl does not know\. Use a tag such as "pt-BR"\./],
    [{ timeZone: 'Berlin' }, /options\.timeZone is "Berlin", which is not a time zone/],
    [{ texts: texts }, /options\.texts must be an array of lists of texts, for example \[defineTexts/],
    [{ texts: [{}] }, /options\.texts must be an array/],
    [{ texts: [texts, defineTexts({ hello: { en: 'Hello' } })] }, /hello is in two lists of options\.texts\. Rename one of the two\./],
    [{ locales: ['en', 'de'], translations: '/nowhere/locales' }, /Run "npx concordat texts de"/]
  ]
  for (const [given, message] of options) await t.rejects(service(t, { locales: ['en'], ...given }), { message }, String(message))
})

t.test('a key in a file that no text has is logged once, and what the command notes is ignored', async (t) => {
  const extra = Object.fromEntries(Array.from({ length: 25 }, (_, at) => [`OLD_${at}`, 'x']))
  const content = { '@changed': { GONE: 'x' }, ...(await complete('de')), ...extra }
  const { lines } = await service(t, { locales: ['en', 'de'], translations: folderOf(t, { 'de.json': content }) })
  t.equal(lines.length, 1)
  t.match(
    lines[0],
    /^error-catalogue: no text of this service has these keys: de\.json OLD_0, .*, de\.json OLD_19, …\. Remove them with npx concordat texts\.$/
  )
  const { lines: one } = await service(t, {
    locales: ['en', 'de'],
    translations: folderOf(t, { 'de.json': { ...(await complete('de')), OLD: 'x' } })
  })
  t.match(one, [/these keys: de\.json OLD\. Remove them/])
})

t.test('every text has a key in translation files', async (t) => {
  const { app } = await service(t, { locales: ['en'] })
  const { texts: all } = app.errorCatalogue
  for (const key of ['GONE', 'OUT_OF_STOCK', 'fields.required', 'fields.tooRude', 'general.phrase', 'general.headerMissing', 'texts.hello'])
    t.ok((all.get(key) as Messages).en, key)
})
