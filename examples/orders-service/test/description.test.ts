import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { lintDocument, type OpenapiDocument, requireCompatible } from '@concordat/openapi'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Spectral } from '@stoplight/spectral-core'
import { oas } from '@stoplight/spectral-rulesets'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import t from 'tap'
import { startService } from './service.ts'

// What the tests look into is theirs to know.
// oxlint-disable-next-line typescript/no-explicit-any
type Loose = any

// As it is released: with its limits.
const { ask, as } = await startService(t, { rateLimit: 'on' })
const { status, body: document } = await ask('GET', '/v1/openapi')
t.equal(status, 200)

t.test('the description is valid OpenAPI 3.1 for Redocly, Spectral and the schema of OpenAPI itself [V7]', async (t) => {
  t.equal((await new Validator().validate(structuredClone(document))).valid, true)
  const problems = await lintFromString({ source: JSON.stringify(document), config: await createConfig({ extends: ['recommended'] }) })
  t.strictSame(
    problems.map(({ ruleId, message, location }) => `${ruleId} ${message} ${location[0]?.pointer}`),
    []
  )
  const spectral = new Spectral()
  // Whom to ask is for the owner of a service to say; the template has none.
  spectral.setRuleset({ extends: [oas], rules: { 'info-contact': 'off' } } as Loose)
  t.strictSame(
    (await spectral.run(JSON.stringify(document))).map(({ code, message, path }) => `${code} ${message} ${path.join('/')}`),
    []
  )
  t.strictSame(lintDocument(document), [])
})

t.test('the description breaks nothing that was released [V3]', async () => {
  const released = JSON.parse(readFileSync(join(import.meta.dirname, '../released/v1.json'), 'utf8')) as OpenapiDocument
  requireCompatible(released, document)
})

t.test('answers are as the description has them: status, headers and body [Q13] [X3]', async (t) => {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  addFormats.default(ajv)
  ajv.addFormat('decimal', true)
  const customer = await as('ada@example.com')
  const category = (await ask('GET', '/v1/categories')).body.data[0]
  const product = (await ask('GET', '/v1/products?perPage=1')).body.data[0]
  const order = (await ask('GET', '/v1/orders?perPage=1')).body.data[0]
  const asked: [
    method: 'GET' | 'POST' | 'PATCH',
    path: string,
    url: string,
    body?: object | undefined,
    headers?: Record<string, string>
  ][] = [
    ['GET', '/v1/categories', '/v1/categories'],
    ['GET', '/v1/categories/{id}', `/v1/categories/${category.id}`],
    ['GET', '/v1/products', '/v1/products?discontinued=false&sort=-unitPrice&unitPrice%5Bgte%5D=10&perPage=3'],
    ['GET', '/v1/products', '/v1/products?colour=red'],
    ['GET', '/v1/products/{id}', `/v1/products/${product.id}`],
    ['GET', '/v1/products/{id}', '/v1/products/00000000-0000-4000-8000-000000000000'],
    ['GET', '/v1/products/{id}', `/v1/products/${product.id}`, undefined, { accept: 'text/html' }],
    ['POST', '/v1/products', '/v1/products', { name: 'Tea', categoryId: category.id, unitPrice: '3.50' }],
    ['POST', '/v1/products', '/v1/products', { name: '' }],
    ['POST', '/v1/products', '/v1/products', { name: 'Tea', categoryId: product.id, unitPrice: '3.50' }],
    ['PATCH', '/v1/products/{id}', `/v1/products/${product.id}`, { unitsInStock: 5 }],
    ['GET', '/v1/customers', '/v1/customers?perPage=2'],
    ['GET', '/v1/orders', '/v1/orders?status%5Bin%5D=paid,pending'],
    ['GET', '/v1/orders', '/v1/orders?after=nonsense'],
    ['GET', '/v1/orders/{id}', `/v1/orders/${order.id}`],
    ['PATCH', '/v1/orders/{id}', `/v1/orders/${order.id}`, { note: 'Ring twice.' }],
    ['GET', '/v1/orders/{id}/items', `/v1/orders/${order.id}/items`],
    ['POST', '/v1/tokens', '/v1/tokens', { username: 'ada@example.com', password: 'wrong' }]
  ]
  const seen = new Set<number>()
  for (const [method, path, url, body, headers] of asked) check(method, path, await ask(method, url, body, headers))
  check('GET', '/v1/customers', await customer('GET', '/v1/customers'))
  for (const status of [200, 201, 401, 403, 404, 406, 422]) t.ok(seen.has(status), `some answer is ${status}`)

  function check(method: string, path: string, answer: { status: number; headers: Readonly<Record<string, string>>; body: Loose }) {
    const name = `${method} ${path} ${answer.status}`
    seen.add(answer.status)
    const given = document.paths[path][method.toLowerCase()].responses[answer.status]
    const described = given?.$ref === undefined ? given : document.components.responses[given.$ref.split('/').at(-1)]
    if (!t.ok(described, `${name} is described`)) return
    const validate = ajv.compile({ ...described.content['application/json'].schema, components: document.components })
    t.ok(validate(answer.body), `${name}: ${JSON.stringify(validate.errors)} ${JSON.stringify(answer.body)}`)
    for (const header of ['request-id', 'vary']) {
      t.ok(header in answer.headers, `${name} has ${header}`)
      t.ok(
        Object.keys(described.headers).some((one) => one.toLowerCase() === header),
        `${name} is described with ${header}`
      )
    }
  }
})

t.test('every example in the description is valid by its own schema', async (t) => {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  addFormats.default(ajv)
  ajv.addFormat('decimal', true)
  const broken: unknown[] = []
  let checked = 0
  const visit = (value: Loose) => {
    if (typeof value !== 'object' || value === null) return
    if (value.schema !== undefined && (value.example !== undefined || value.examples !== undefined)) {
      const validate = ajv.compile({ ...value.schema, components: document.components })
      for (const example of value.examples === undefined ? [value.example] : Object.values(value.examples).map((one: Loose) => one.value)) {
        checked += 1
        if (!validate(example)) broken.push([example, validate.errors])
      }
    }
    for (const inner of Object.values(value)) visit(inner)
  }
  visit(document)
  t.strictSame(broken, [])
  t.ok(checked > 60, `${checked} examples`)
})
