import { breakingChanges } from '@concordat/openapi/diff'
import { lintDocument } from '@concordat/openapi/lint'
import t from 'tap'
import type { Loose } from './shop.ts'

// Each member of a document that is read, as the pointer to it, and the container that it must be.
const operation = '#/paths/~1v1~1orders/post'
const members: Record<string, 'object' | 'array' | 'text' | 'schema'> = {
  '#/info': 'object',
  '#/servers': 'array',
  '#/servers/0': 'object',
  '#/servers/0/url': 'text',
  '#/tags/0/name': 'text',
  '#/security': 'array',
  '#/paths': 'object',
  '#/paths/~1v1~1orders': 'object',
  '#/paths/~1v1~1orders/parameters': 'array',
  '#/paths/~1v1~1orders/x-oai-additionalOperations': 'object',
  '#/paths/~1v1~1orders/x-oai-additionalOperations/QUERY': 'object',
  [operation]: 'object',
  [`${operation}/operationId`]: 'text',
  [`${operation}/tags`]: 'array',
  [`${operation}/security`]: 'array',
  [`${operation}/parameters`]: 'array',
  [`${operation}/parameters/0`]: 'object',
  [`${operation}/parameters/0/name`]: 'text',
  [`${operation}/parameters/0/in`]: 'text',
  [`${operation}/parameters/0/schema`]: 'schema',
  [`${operation}/requestBody`]: 'object',
  [`${operation}/requestBody/content`]: 'object',
  [`${operation}/requestBody/content/application~1json`]: 'object',
  [`${operation}/requestBody/content/application~1json/schema`]: 'schema',
  [`${operation}/responses`]: 'object',
  [`${operation}/responses/200`]: 'object',
  [`${operation}/responses/200/headers`]: 'object',
  [`${operation}/responses/200/headers/ETag`]: 'object',
  [`${operation}/responses/200/content`]: 'object',
  [`${operation}/responses/200/content/application~1json`]: 'object',
  '#/webhooks/paid/post': 'object',
  '#/components': 'object',
  '#/components/schemas': 'object',
  '#/components/schemas/Order': 'schema',
  '#/components/parameters/Page': 'object',
  '#/components/parameters/Page/name': 'text'
}

function documentOf(): Loose {
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/Order' } } }
  const page = { name: 'page', in: 'query', schema: { type: 'integer' } }
  return {
    openapi: '3.1.0',
    info: { title: 'Shop', version: '1' },
    servers: [{ url: 'https://shop.example' }],
    tags: [{ name: 'orders' }],
    security: [],
    paths: {
      '/v1/orders': {
        parameters: [{ $ref: '#/components/parameters/Page' }],
        'x-oai-additionalOperations': { QUERY: { responses: {} } },
        post: {
          operationId: 'createOrder',
          tags: ['orders'],
          security: [],
          parameters: [page],
          requestBody: { content },
          responses: {
            200: { description: 'One.', headers: { ETag: { schema: { type: 'string' } } }, content }
          }
        }
      }
    },
    webhooks: { paid: { post: { requestBody: { content } } } },
    components: { schemas: { Order: { type: 'object', properties: { id: { type: 'string' } } } }, parameters: { Page: { ...page } } }
  }
}

const step = (name: string) => name.replaceAll('~1', '/')

function replaced(pointer: string, value: unknown): Loose {
  const document: Loose = JSON.parse(JSON.stringify(documentOf()))
  const steps = pointer.split('/').slice(1)
  const last = steps.pop() as string
  steps.reduce((node: Loose, name) => node[step(name)], document)[step(last)] = value
  return document
}

const values: Record<string, unknown> = { null: null, number: 7, text: 'text', array: ['text'], object: { a: 7 }, boolean: true }
const fits: Record<string, readonly string[]> = { object: ['object'], array: ['array'], text: ['text'], schema: ['object', 'boolean'] }

t.test('a member of the wrong kind is refused with one line that names it, wherever it is and in either document', async (t) => {
  const whole = documentOf()
  t.doesNotThrow(() => lintDocument(whole))
  t.strictSame(breakingChanges(whole, whole), [])
  for (const [pointer, kind] of Object.entries(members))
    for (const [name, value] of Object.entries(values)) {
      if (fits[kind]?.includes(name)) continue
      const document = replaced(pointer, value)
      const article = kind === 'array' ? 'an array' : kind === 'text' ? 'a text' : 'an object'
      const message = (which: string) => ({
        name: 'TypeError',
        message: `openapi: ${which} document is not a valid OpenAPI 3.1 document: ${pointer} must be ${article}.`
      })
      t.throws(() => lintDocument(document), message('the'), `${pointer} ${name}`)
      t.throws(() => breakingChanges(document, whole), message('the released'), `${pointer} ${name}`)
      t.throws(() => breakingChanges(whole, document), message('the present'), `${pointer} ${name}`)
    }
})

t.test('a member that is required and missing is refused, also where a reference leads', async (t) => {
  const cases: [string, unknown, RegExp][] = [
    ['#/components/parameters/Page', { in: 'query' }, /#\/components\/parameters\/Page\/name must be present/],
    [`${operation}/parameters/0`, { $ref: '#/info' }, /#\/info\/name must be present/],
    [`${operation}/requestBody`, {}, /requestBody\/content must be present/],
    ['#/servers/0', {}, /#\/servers\/0\/url must be present/]
  ]
  for (const [pointer, value, message] of cases) {
    t.throws(() => lintDocument(replaced(pointer, value)), { message }, pointer)
    t.throws(() => breakingChanges(documentOf(), replaced(pointer, value)), { message }, pointer)
  }
})

t.test('the line about a member has no control characters and a limited length', async (t) => {
  const document: Loose = { ...documentOf(), paths: { ['/\u001b[2J\nNo findings.']: null, [`/${'x'.repeat(9000)}`]: {} } }
  const message = String.raw`openapi: the document is not a valid OpenAPI 3.1 document: #/paths/~1\u{1b}[2J\u{a}No findings. must be an object.`
  t.throws(() => lintDocument(document), { message })
  try {
    lintDocument({ ...documentOf(), paths: { [`/${'x'.repeat(9000)}`]: null } })
    t.fail('it is refused')
  } catch (error) {
    t.ok((error as Error).message.length <= 2001)
  }
})

t.test('names of Object.prototype are names, and extensions contain anything', async (t) => {
  const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty']
  for (const name of names) {
    const text = JSON.stringify(documentOf()).replaceAll('"id"', JSON.stringify(name)).replaceAll('Order"', `${name}"`)
    const document = JSON.parse(text)
    t.strictSame(breakingChanges(document, JSON.parse(text)), [])
    const changed = JSON.parse(text.replace(`${name}":{"type":"string"}`, `${name}":{"type":"integer"}`))
    t.ok(
      breakingChanges(document, changed).some(({ place }) => place.endsWith(name)),
      name
    )
    t.doesNotThrow(() => lintDocument(document), name)
  }
  t.equal(({} as Loose).type, undefined)
  t.doesNotThrow(() => lintDocument(JSON.parse(JSON.stringify({ ...documentOf(), 'x-any': [null, 7] }))))
})
