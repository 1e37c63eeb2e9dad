// The template, with everything that can be chosen, follows the rules of the interface specification, as the example does.
import { randomUUID } from 'node:crypto'
import {
  invalidExamples,
  owaspFindings,
  spectralFindings,
  validatorFindings,
  waivedInAll
} from '@concordat/test-harness/description-validators'
import { type Exchange, pathOf, readDescribed, recorder } from '@concordat/test-harness/exchanges'
import { crawl, startingPoints, targetsIn } from '@concordat/test-harness/link-crawler'
import { commonRefusals, type Refusal, testRefusals } from '@concordat/test-harness/refusal-rules'
import { testOptions, testResponses } from '@concordat/test-harness/response-rules'
import { until } from '@concordat/test-harness/until'
import { describedFetch, freshDatabase } from '@concordat/testing'
import t from 'tap'
import { startTemplate } from './started-template.ts'

// All requests are sent before the first test: the service ends with the last of those that were added until then.
const { databaseUrl: DATABASE_URL, dataFolder: DATA_DIR } = await freshDatabase(t)
const service = await startTemplate(t, { DATABASE_URL, DATA_DIR }).address()
const { send: sendAnonymously } = recorder(service, describedFetch)
const user = { username: 'ada@example.com', password: 'correct horse battery staple' }
const { accessToken } = (await sendAnonymously('POST', '/v1/tokens', user)).body.data
const credentials = { authorization: `Bearer ${accessToken}` }
const { send, exchanges } = recorder(service, describedFetch, credentials)
const document = (await sendAnonymously('GET', '/v1/openapi')).body

const key = () => ({ 'idempotency-key': randomUUID() })
const name = 'Michael Ende'
const author = (await send('POST', '/v1/authors', { name }, key())).body.data
const momo = { title: 'Momo', authorId: author.id, year: 1973 }
const book = `/v1/books/${(await send('POST', '/v1/books', momo, key())).body.data.id}`

/** Sends every operation of the description. */
async function explore() {
  const other = `/v1/authors/${(await send('POST', '/v1/authors', { name: 'Astrid Lindgren' })).body.data.id}`
  await send('PATCH', other, { name: 'A. Lindgren' }, { 'if-match': (await send('GET', other)).headers.get('etag') ?? '' })
  await send('GET', other, undefined, { 'if-none-match': (await send('GET', other)).headers.get('etag') ?? '' })
  await send('DELETE', other)
  await send('GET', other)
  for (const summary of ['', 'Time.', null]) await send('PATCH', book, { summary }, { 'if-match': '*' })
  const repeated = key()
  const second = { ...momo, title: 'The Neverending Story' }
  await send('POST', '/v1/books', second, repeated)
  await send('DELETE', `/v1/books/${(await send('POST', '/v1/books', second, repeated)).body.data.id}`)
  const operation = { id: 'a', method: 'POST', path: '/v1/books', body: second, headers: key() }
  await send('POST', '/v1/book-batches', { atomic: true, operations: [operation] }, key())
  const job = `/v1/book-reports/${(await send('POST', '/v1/book-reports', undefined, key())).body.data.jobId}`
  await until(async () => (await send('GET', job)).body.data.status === 'completed')
  for (const { rel, href } of (await send('GET', job)).body.data._links) if (rel === 'result') await send('GET', pathOf(href))
  const hook = { url: 'https://hooks.example.com/books', eventTypes: ['book.created'] }
  const subscription = `/v1/webhook-subscriptions/${(await send('POST', '/v1/webhook-subscriptions', hook)).body.data.id}`
  await send('PATCH', subscription, { description: 'Books' }, { 'if-match': '*' })
  await send('POST', `${subscription}/secrets`)
  await send('POST', `${subscription}/pings`)
  await send('POST', `${subscription}/recoveries`, { since: '2026-01-01T00:00:00Z' })
  await readDescribed(send, document.paths)
  for (const path of ['/', '/v1', '/health/live', '/health/ready']) await send('GET', path)
}

await explore()
const refusals = await commonRefusals({
  send: sendAnonymously,
  credentials,
  document,
  list: '/v1/authors',
  member: 'name',
  item: `/v1/authors/${author.id}`,
  counted: [book, 'year'],
  restricted: '/v1/webhook-subscriptions',
  keyed: ['/v1/books', momo],
  tokens: '/v1/tokens'
})
const { send: refused } = recorder(service, describedFetch, credentials)
const ownRefusals: Refusal[] = [
  [409, 'AUTHOR_EXISTS', await refused('POST', '/v1/authors', { name })],
  [409, 'RESOURCE_IN_USE', await refused('DELETE', `/v1/authors/${author.id}`)],
  [422, 'UNKNOWN_AUTHOR', await refused('POST', '/v1/books', { ...momo, authorId: randomUUID() }, key())],
  [428, 'PRECONDITION_REQUIRED', await refused('PATCH', book, { year: 1974 })]
]

testResponses(t, exchanges, { relations: ['attempts', 'author', 'deliveries', 'ping', 'recover', 'result', 'rotate-secret'] })
testOptions(t, service, document.paths)

testRefusals(t, [...refusals, ...ownRefusals], document)

/** Returns what the crawler reads. */
const linked = ({ status, headers, body }: Exchange) => ({ status, body, headers: Object.fromEntries(headers) })

t.test('every link leads to a resource or to an allowed method [E5]', async (t) => {
  const deleted = new Set(exchanges.filter(({ method }) => method === 'DELETE').map(({ path }) => path))
  const written = exchanges.flatMap((one) => (one.method === 'GET' ? [] : targetsIn(linked(one), `${one.method} ${one.path}`)))
  const remaining = written.filter(({ href }) => !deleted.has(pathOf(href)))
  const { problems, kinds } = await crawl(async (method, path) => linked(await send(method, path)), service, [
    ...startingPoints(service, 'v1', document.paths),
    ...remaining
  ])
  t.strictSame(problems, [])
  for (const kind of ['GET /v1', 'GET /reference', 'GET /v1/openapi', 'GET /v1/books/{id}', 'GET /v1/book-reports/{id}/result'])
    t.ok(kinds.includes(kind), kind)
})

// Places of this service where an OWASP rule does not apply, each with the reason.
const read = 'owasp:api2:2023-read-restricted'
const form = 'owasp:api4:2023-string-restricted'
const ofEverybody = 'Books and authors are public.'
const text = 'The value is free text.'
const filter = 'It filters by a free text.'
const waived = {
  ...waivedInAll,
  [`${read} paths/~1v1~1authors/get/security`]: ofEverybody,
  [`${read} paths/~1v1~1authors~1{id}/get/security`]: ofEverybody,
  [`${read} paths/~1v1~1books/get/security`]: ofEverybody,
  [`${read} paths/~1v1~1books~1{id}/get/security`]: ofEverybody,
  [`${form} components/schemas/*Author/properties/name`]: text,
  [`${form} components/schemas/AuthorChanges/properties/name`]: text,
  [`${form} components/schemas/*Book/properties/title`]: text,
  [`${form} components/schemas/BookChanges/properties/title`]: text,
  [`${form} components/schemas/*Book/properties/summary`]: text,
  [`${form} components/schemas/BookChanges/properties/summary/anyOf/0`]: text,
  ...Object.fromEntries(
    ['client', 'issuer', 'path', 'requestId', 'resource', 'route', 'subject'].map((name) => [
      `${form} components/schemas/*AuditRecord/properties/${name}`,
      'The issuer, the client or the service chooses it.'
    ])
  ),
  ...Object.fromEntries(
    ['client', 'path', 'path[prefix]', 'route', 'subject'].map((name) => [
      `${form} paths/~1v1~1audit-records/get/parameters/${name}/schema`,
      filter
    ])
  ),
  [`${form} paths/~1v1~1authors/get/parameters/name/schema`]: filter,
  [`${form} paths/~1v1~1authors/get/parameters/name[prefix]/schema`]: filter,
  [`${form} paths/~1v1~1books/get/parameters/title[prefix]/schema`]: filter
}

t.test('the description is valid for Redocly, Spectral and OpenAPI itself, and follows the OWASP rules [V7]', async (t) => {
  t.strictSame(await validatorFindings(document), [])
  t.strictSame(await spectralFindings(document), [])
  t.strictSame(await owaspFindings(document, waived), [])
  const { checked, broken } = invalidExamples(document)
  t.strictSame(broken, [])
  t.ok(checked > 50, `${checked} examples`)
})
