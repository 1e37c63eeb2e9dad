// In a process of its own: it measures the heap of the process.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import contentNegotiation from '@concordat/content-negotiation'
import * as fc from 'fast-check'
import Fastify from 'fastify'
import t from 'tap'

async function localeService(locales?: string[]) {
  const app = Fastify()
  await app.register(contentNegotiation, locales === undefined ? {} : { locales })
  app.get('/', (request) => ({ locale: request.locale }))
  return async (header?: string) =>
    (await app.inject({ url: '/', headers: header === undefined ? {} : { 'accept-language': header } })).json().locale
}

t.test('finds the language by lookup: weights, shortening, the default [G1]', async (t) => {
  const localeOf = await localeService()
  const cases: [header: string | undefined, locale: string][] = [
    [undefined, 'en'],
    ['', 'en'],
    ['es', 'es'],
    ['ES', 'es'],
    ['es-MX', 'es'],
    ['es-419, en;q=0.8', 'es'],
    ['en;q=0.4, es;q=0.9', 'es'],
    ['en;q=0.4 , es ; q=0.9', 'es'],
    ['de, fr;q=0.9', 'en'],
    ['de, es;q=0.1', 'es'],
    ['*', 'en'],
    ['*, es;q=0.1', 'es'],
    ['es;q=0', 'en'],
    ['en;q=0', 'es'],
    ['en;q=0, es;q=0', 'en'],
    ['es;q=abc, en;q=0.1', 'en'],
    ['es-x-private, en', 'es'],
    ['e', 'en'],
    ['x-es', 'en'],
    ['e s, €, ;;q=1', 'en'],
    ['__proto__, constructor', 'en']
  ]
  for (const [header, locale] of cases) t.equal(await localeOf(header), locale, `Accept-Language: ${header}`)
})

t.test('guesses scripts and regions that a tag omits [G1]', async (t) => {
  const localeOf = await localeService(['en', 'zh-Hant', 'zh-Hans', 'pt-BR', 'fr', 'fr-CA', 'sr', 'sl-nedis', 'sl-rozaj'])
  const cases = [
    ['zh-TW', 'zh-Hant'],
    ['zh-HK, en', 'zh-Hant'],
    ['zh-Hant-TW', 'zh-Hant'],
    ['zh-CN', 'zh-Hans'],
    ['zh', 'zh-Hans'],
    ['pt', 'pt-BR'],
    ['pt-PT', 'en'],
    ['fr-CA-x-foo', 'fr-CA'],
    ['sl-rozaj-biske', 'sl-rozaj'],
    ['fr-BE', 'fr'],
    ['fr', 'fr'],
    ['sr-Latn-RS', 'sr'],
    // a refused language is not chosen
    ['zh-TW, zh-Hant;q=0', 'en'],
    ['zh-Hant, zh;q=0', 'en'],
    ['fr-CA, fr;q=0, pt;q=0.1', 'pt-BR']
  ] as const
  for (const [header, locale] of cases) t.equal(await localeOf(header), locale, `Accept-Language: ${header}`)
})

t.test('a region that the service does not have gets its language [G1]', async (t) => {
  const localeOf = await localeService(['en', 'de', 'de-AT', 'pt', 'zh-Hant'])
  const cases = [
    ['de-AT', 'de-AT'],
    ['de-CH-1996', 'de'],
    ['de-AT-1996', 'de-AT'],
    ['de', 'de'],
    ['pt-PT', 'pt'],
    ['zh-TW', 'zh-Hant'],
    ['*', 'en'],
    ['*, de;q=0.5', 'de'],
    ['de-AT;q=0, de', 'de'],
    ['de;q=0, de-AT', 'en'],
    ['de_AT, pt;q=0.1', 'pt']
  ] as const
  for (const [header, locale] of cases) t.equal(await localeOf(header), locale, `Accept-Language: ${header}`)
})

t.test('preserves the order and the spelling of locales', async (t) => {
  const localeOf = await localeService(['ES-mx', 'es-MX', 'en-US', 'en'])
  t.equal(await localeOf('es-mx'), 'ES-mx')
  t.equal(await localeOf('en'), 'en')
  t.equal(await localeOf('en-US'), 'en-US')
  t.equal(await localeOf('de'), 'ES-mx')
  t.equal(await (await localeService(['en-Latn-US', 'en']))('en-Latn-US'), 'en-Latn-US', 'an exact tag takes precedence over a guessed tag')
})

t.test('reads at most 20 ranges and 2,048 characters of the header', async (t) => {
  const localeOf = await localeService()
  t.equal(await localeOf(`${'de,'.repeat(19)}es`), 'es')
  t.equal(await localeOf(`${'de,'.repeat(20)}es`), 'en')
  t.equal(await localeOf(`es,${'a'.repeat(2045)}`), 'es')
  t.equal(await localeOf(`es,${'a'.repeat(2046)}`), 'en')
})

t.test('keeps only the most recent of twenty thousand different headers in memory', async (t) => {
  const app = Fastify()
  await app.register(contentNegotiation)
  app.get('/', (request) => {
    const before = heapInUse()
    for (let i = 0; i < 20_000; i++) {
      request.headers = { 'accept-language': `es;q=0.1${i},${'e'.repeat(2000)}` }
      if (request.locale !== 'es') throw new Error(`${i} is ${request.locale}`)
    }
    return { grown: heapInUse() - before }
  })
  const response = await app.inject('/')
  t.ok(response.json().grown < 10_000_000, 'all of them would use 40 MB')
})

function heapInUse() {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  return process.memoryUsage().heapUsed
}

t.test('any Accept-Language results in a locale, and the only locale with weight 1 is chosen [G1]', async (t) => {
  const locales = ['en', 'es', 'zh-Hant', 'pt-BR']
  const localeOf = await localeService(locales)
  const piece = fc.constantFrom('en', 'es', 'zh', 'TW', 'x', '-', '-', ',', ';q=', '0', '0.5', '1', '*', ' ', 'abcd', '12345678')
  const header = fc.oneof(
    fc.string({ maxLength: 60 }),
    fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join(''))
  )
  await fc.assert(
    fc.asyncProperty(header, async (text) => locales.includes(await localeOf(text))),
    { numRuns: 300 }
  )
  const others = fc.array(fc.tuple(fc.constantFrom('en-GB', 'es-AR', 'de', 'zh-TW', 'pt', '*'), fc.constantFrom('0.9', '0.5', '0.001')), {
    maxLength: 6
  })
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...locales), others, fc.nat(6), async (wanted, rest, place) => {
      const ranges = rest.map(([tag, q]) => `${tag};q=${q}`)
      return (await localeOf(ranges.toSpliced(place, 0, wanted).join(', '))) === wanted
    })
  )
  t.pass('property verified')
})
