import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type OpenapiDocument, requireCompatible } from '@concordat/openapi/diff'
import {
  invalidExamples,
  owaspFindings,
  spectralFindings,
  validatorFindings,
  waivedForProblems,
  waivedInAll
} from '@concordat/test-harness/description-validators'
import { isLong } from '@concordat/test-harness/scale'
import t from 'tap'
import { startService } from '../service.ts'

// Each test knows the shape of the values that it reads.
// oxlint-disable-next-line typescript/no-explicit-any
type Loose = any

// In the released form: with rate limits.
const { call } = await startService(t, { rateLimit: 'on', publicUrl: undefined })
const documents = await Promise.all(
  ['v1', 'v2'].map(async (version) => [version, (await call('GET', `/${version}/openapi`)).body] as const)
)
const released = join(import.meta.dirname, '../../released')

// Places of this service where an OWASP rule does not apply, each with the reason.
const read = 'owasp:api2:2023-read-restricted'
const list = 'owasp:api4:2023-array-limit'
const limit = 'owasp:api4:2023-string-limit'
const form = 'owasp:api4:2023-string-restricted'
const ofEverybody = 'Categories and products are public.'
const wholeExport = 'An export has all orders.'
const bytes = 'The body has a limit in bytes.'
const text = 'The value is free text.'
const filter = 'It filters by a free text.'
const file = 'paths/~1v*~1order-exports~1{id}~1files~1{fileId}/get/responses/200/content'
const waived: Readonly<Record<string, string>> = {
  ...waivedInAll,
  ...at(read, ofEverybody, 'paths/~1v*~1categories/get/security', 'paths/~1v*~1categories~1{id}/get/security'),
  ...at(read, ofEverybody, 'paths/~1v*~1products/get/security', 'paths/~1v*~1products~1{id}/get/security'),
  ...at(read, ofEverybody, 'paths/~1v*~1products~1{id}~1images/get/security'),
  ...at(read, ofEverybody, 'paths/~1v*~1products~1{id}~1images~1{imageId}/get/security'),
  ...at(list, wholeExport, `${file}/application~1json/schema/properties/data`),
  ...at(limit, wholeExport, `${file}/text~1csv/schema`),
  ...at(form, 'RFC 4180 defines the syntax.', `${file}/text~1csv/schema`),
  ...at(limit, bytes, 'paths/~1v*~1products~1{id}~1images/post/requestBody/content/image~1*/schema'),
  ...at(limit, bytes, 'paths/~1v*~1products~1{id}~1images~1{imageId}/get/responses/200/content/image~1*/schema'),
  ...at(limit, bytes, 'paths/~1v*~1product-imports/post/requestBody/content/multipart~1form-data/schema/properties/file'),
  ...at(form, text, ...members('ProductImportResult', 'refusals/items/properties/reason')),
  ...at(form, 'The issuer or the client chooses it.', ...members('*AuditRecord', 'client', 'issuer', 'requestId', 'subject')),
  ...at(form, 'A service chooses its paths.', ...members('*AuditRecord', 'path', 'resource', 'route')),
  ...at(form, 'The issuer of tokens names its clients.', ...members('*VersionClient', 'client', 'id')),
  ...at(form, 'The service decides who owns a subscription.', ...members('*ManagedWebhookSubscription', 'owner')),
  ...at(form, text, ...members('*Category', 'description', 'name')),
  ...at(form, text, ...members('*Customer', 'companyName', 'contactName', 'country')),
  ...at(form, text, ...members('CustomerChanges', 'companyName', 'contactName', 'country')),
  ...at(form, text, ...members('*Order', 'note'), ...members('OrderChanges', 'note/anyOf/0'), ...members('OrderExportFile', 'note')),
  ...at(form, text, ...members('PartialOrder', ...within('customer', 'companyName', 'contactName', 'country'))),
  ...at(form, text, ...members('PartialProduct', ...within('category', 'description', 'name'))),
  ...at(form, text, ...members('*OrderCancellation', 'reason')),
  ...at(form, text, ...members('*Product', 'description', 'name'), ...members('ProductReplacement', 'description', 'name')),
  ...at(form, text, ...members('ProductChanges', 'description/anyOf/0', 'name')),
  ...at(form, filter, ...parameters('audit-records', 'client', 'path', 'path[prefix]', 'route', 'subject')),
  ...at(form, filter, ...parameters('customers', 'country'), ...parameters('products', 'name', 'name[ne]', 'name[prefix]')),
  ...at(form, filter, ...parameters('version-clients', 'version'))
}

function at(rule: string, reason: string, ...places: readonly string[]) {
  return Object.fromEntries(places.map((place) => [`${rule} ${place}`, reason]))
}

function members(schema: string, ...names: readonly string[]) {
  return names.map((name) => `components/schemas/${schema}/properties/${name}`)
}

function within(relation: string, ...names: readonly string[]) {
  return names.map((name) => `${relation}/anyOf/0/properties/${name}`)
}

function parameters(resource: string, ...names: readonly string[]) {
  return names.map((name) => `paths/~1v*~1${resource}/get/parameters/${name}/schema`)
}

for (const [version, document] of documents) {
  t.test(`${version} is valid OpenAPI 3.1 for Redocly, Spectral and the schema of OpenAPI itself [V7]`, async (t) => {
    t.strictSame(await validatorFindings(document), [])
    // The same code generates both versions, and Spectral takes as long as all the others.
    if (isLong || version === 'v2') t.strictSame(await spectralFindings(document), [])
  })

  t.test(`${version} is compatible with the released description [V3] [P4]`, async () => {
    requireCompatible(JSON.parse(readFileSync(join(released, `${version}.json`), 'utf8')) as OpenapiDocument, document)
  })
}

t.test('every description follows the OWASP rules for APIs, except at the places that are waived with a reason', async (t) => {
  // The same code generates both versions.
  for (const [version, document] of isLong ? documents : documents.slice(-1)) {
    // Only the responses of a version that ends have `Link`.
    const ofVersion = version === 'v1' ? at(form, 'RFC 8288 defines the syntax.', 'components/headers/Link/schema') : waivedForProblems
    t.strictSame(await owaspFindings(document, { ...waived, ...ofVersion }), [], version)
  }
})

t.test('every example in the descriptions is valid against its schema', async (t) => {
  for (const [version, document] of documents) {
    const { checked, broken } = invalidExamples(document)
    t.strictSame(broken, [], version)
    t.ok(checked > 60, `${checked} examples`)
  }
})

const noSuchTexts = /^(?:Code|Message|Rel|Href|Method)$/

/** Returns the example and the place of each success response with a JSON body. */
function successes({ paths }: Loose): { place: string; path: string; method: string; status: string; example: Loose }[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item as Loose).flatMap(([method, { responses }]: [string, Loose]) =>
      Object.entries(responses).flatMap(([status, response]: [string, Loose]) => {
        const example = response.content?.['application/json']?.example
        return example === undefined ? [] : [{ place: `${method} ${path} ${status}`, path, method, status, example }]
      })
    )
  )
}

t.test(
  'the examples of a response agree with each other: a queued job has no error, a page has as many items as it says [E3] [E7] [K3]',
  async (t) => {
    const root = 'https://api.example.com'
    let links = 0
    for (const [, document] of documents) {
      for (const { place, path, method, status, example } of successes(document)) {
        const { data, _links: own, _meta: meta } = example
        const url = root + path.replaceAll(/\{[^}]*\}/g, '018f4e2a-7c1b-7d3e-9a5f-0123456789ab')
        const [self] = own
        const isCreated = self.method === 'GET' && method === 'post'
        t.strictSame(
          [self.rel, self.href.replace(/\/[^/]*$/, ''), isCreated && status],
          isCreated ? ['self', url, '201'] : ['self', url.replace(/\/[^/]*$/, ''), false],
          place
        )
        if (!isCreated) t.strictSame([self.href, self.method], [url, method.toUpperCase()], place)
        for (const one of [data].flat()) {
          for (const { href } of one._links ?? []) {
            links += 1
            t.match(href, new RegExp(`^${root}/v\\d/(order-exports|product-imports)/018f4e2a`), place)
          }
          if (one.status === 'queued') t.notOk('error' in one || 'progress' in one, place)
          if (one.status === 'pending') t.notOk('shippedAt' in one || 'endedAt' in one, place)
          if (one.status === 'enabled') t.notOk('disabledReason' in one || 'failingSince' in one, place)
          if (one.signature === 'hmac-sha256') t.notOk('publicKey' in one, place)
        }
        const { pagination } = meta
        if (pagination !== undefined) t.match(pagination, { page: 1, totalPages: 1, totalItems: data.length }, place)
      }
    }
    t.equal(links, 9, 'links of jobs')
  }
)

t.test('examples are texts that a client could receive, and not the names of their fields', async (t) => {
  const texts: unknown[] = []
  const visit = (value: Loose, name = '') => {
    if (typeof value === 'string') {
      const words = name.replaceAll(/([A-Z])/g, ' $1').toLowerCase()
      if (value.toLowerCase() === words || noSuchTexts.test(value)) texts.push([name, value])
    } else if (typeof value === 'object' && value !== null)
      for (const [key, inner] of Object.entries(value)) visit(inner, Array.isArray(value) ? name : key)
  }
  for (const [, document] of documents) {
    for (const { example } of successes(document)) visit(example)
    for (const item of Object.values<Loose>(document.paths))
      for (const { requestBody } of Object.values<Loose>(item)) visit(requestBody?.content?.['application/json']?.example)
  }
  t.strictSame(texts, [])
})

t.test('every tag has a text that says what its resource is', async (t) => {
  for (const [, { tags }] of documents) {
    const short = tags.filter(({ description }: Loose) => !/^[A-Z].*\. .*\.$/.test(description)).map(({ name }: Loose) => name)
    t.strictSame(short, ['order-batches', 'webhooks'])
  }
})

t.test('the description requires a body where the service does, and nowhere else', async (t) => {
  const send = call
  const { body: products } = await send('GET', '/v2/products?perPage=1&unitPrice[gte]=1')
  const items = [{ productId: products.data[0].id, quantity: 1 }]
  const { body: customers } = await send('GET', '/v2/customers?perPage=1')
  const { body: order } = await send('POST', '/v2/orders', { items, customerId: customers.data[0].id })
  const { body: item } = await send('GET', `/v2/orders/${order.data.id}/items`)
  const ids: Readonly<Record<string, string>> = {
    orders: order.data.id,
    items: item.data[0]?.id,
    products: items[0]?.productId as string,
    customers: customers.data[0].id
  }
  const optional: string[] = []
  for (const [path, operations] of Object.entries(documents.at(-1)?.[1].paths)) {
    for (const [method, { requestBody, responses }] of Object.entries<Loose>(operations as Loose)) {
      if (requestBody === undefined) continue
      if (requestBody.required === false) optional.push(`${method} ${path}`)
      const url = path.replaceAll(
        /(\w+)\/\{[^}]*\}/g,
        (_all, noun: string) => `${noun}/${ids[noun] ?? '018f4e2a-7c1b-7d3e-9a5f-0123456789ab'}`
      )
      const { status } = await send(
        method.toUpperCase(),
        url,
        undefined,
        method === 'post' ? { 'idempotency-key': randomUUID() } : { 'if-match': '*' }
      )
      const isRefused = ![200, 201, 202, 404].includes(status)
      t.equal(isRefused, requestBody.required, `${method} ${url}: ${status} of ${Object.keys(responses).join()}`)
    }
  }
  t.strictSame(optional, ['post /v2/order-exports', 'post /v2/orders/{id}/cancellations'])
})

t.test('the examples are values that this service could send: its own URLs, ids and records', async (t) => {
  for (const [version, document] of documents) {
    const routes = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.keys(item as Loose).map(
        (method) => new RegExp(`^${method.toUpperCase()} https://api.example.com${path.replaceAll(/\{[^}]*\}/g, '[^/]+')}$`)
      )
    )
    const [links, bodies] = [new Set<string>(), [] as Loose[]]
    const visit = (node: Loose, isExample: boolean): void => {
      if (typeof node !== 'object' || node === null) return
      if (isExample && 'href' in node && typeof node.href === 'string') links.add(`${node.method} ${node.href}`)
      for (const [key, value] of Object.entries(node)) {
        if (key === 'example' && (value as Loose)?.data !== undefined) bodies.push((value as Loose).data)
        visit(value, isExample || key === 'example' || key === 'examples')
      }
    }
    visit(document, false)
    t.ok(links.size > 20)
    // Errors do not depend on the operation. Theirs is the link of a 404.
    const ofErrors = `GET https://api.example.com/${version}`
    t.strictSame(
      [...links].filter((link) => link !== ofErrors && !routes.some((route) => route.test(link))),
      [],
      version
    )
    const records = bodies.flatMap((data) => [data].flat())
    const [audited, clients] = [records.filter(({ outcome }) => outcome), records.filter(({ lastUsedAt }) => lastUsedAt)]
    t.ok(version === 'v1' || (audited.length > 0 && clients.length > 0))
    for (const { outcome, status, errorCode } of audited)
      t.strictSame([outcome === 'committed', errorCode === undefined], [status < 400, status < 400])
    for (const { id, version: used, client, requests, days } of clients)
      t.strictSame([id, days[0].requests], [`${used}/${client}`, requests])
  }
})
