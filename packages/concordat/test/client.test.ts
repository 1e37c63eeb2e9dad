import { execFile } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { documentOf, hard, hardDocument, json, referenceTo, text } from './hard-schemas.ts'

const root = join(import.meta.dirname, '../../..')

interface Outcome {
  readonly code: number
  readonly out: string
  readonly err: string
}

function run(args: readonly string[]): Promise<Outcome> {
  return new Promise((resolve) => {
    execFile(process.execPath, args, (error, out, err) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, out, err })
    })
  })
}

const concordat = (...args: string[]) => run(['--conditions=@concordat/source', join(root, 'packages/concordat/src/command.ts'), ...args])

/** Writes the client of a document, and returns its file, its text and the output of the command. */
async function written(t: Test, document: unknown, ...flags: readonly string[]) {
  const folder = t.testdir({})
  const [source, file] = [join(folder, 'openapi.json'), join(folder, 'shop.ts')]
  writeFileSync(source, JSON.stringify(document))
  const outcome = await concordat('client', source, '--out', file, ...flags)
  return { ...outcome, source, file, text: outcome.code === 0 ? readFileSync(file, 'utf8') : '' }
}

t.test('every form of a schema has a type, and what cannot be expressed is unknown, with a warning and its place', async (t) => {
  const { text, out, file } = await written(t, hardDocument)
  for (const [name, [, declaration]] of Object.entries(hard))
    t.ok(typeof declaration === 'string' ? text.includes(declaration) : declaration.test(text), `${name}: ${declaration}`)
  for (const warning of [
    'Self: the schema consists of itself',
    'Big: an integer of 64 bits',
    'Lost: the reference other.json#/a',
    'Strange: the type decimal'
  ])
    t.match(out, `warning: components.schemas.${warning}`)
  t.notMatch(out, 'Exact', 'a number has all its digits')
  await compiles(t, file)
})

/** Compiles the file with the client, with and without exact optional members. */
async function compiles(t: Test, file: string) {
  const folder = join(file, '..')
  for (const exactOptionalPropertyTypes of [true, false]) {
    const options = {
      strict: true,
      exactOptionalPropertyTypes,
      noEmit: true,
      skipLibCheck: true,
      target: 'es2024',
      lib: ['es2024', 'dom'],
      types: [],
      module: 'esnext',
      moduleResolution: 'bundler',
      allowImportingTsExtensions: true,
      paths: {
        '@concordat/client': [join(root, 'packages/client/src/index.ts')],
        '@concordat/client/int64': [join(root, 'packages/client/src/int64.ts')]
      }
    }
    writeFileSync(
      join(folder, 'use.ts'),
      "import { createClient } from '@concordat/client'\nimport { api } from './shop.ts'\ncreateClient(api, { baseUrl: 'https://a.example' })\n"
    )
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, files: ['use.ts'] }))
    const { code, out } = await run([join(root, 'node_modules/typescript/bin/tsc'), '-p', folder])
    t.equal(code, 0, out)
  }
}

t.test('descriptions of other services: version 3.0, default responses, cookies, XML, forms and binary bodies', async (t) => {
  const messages: [string, string][] = [
    ['multipart/form-data', 'FormData'],
    ['application/x-www-form-urlencoded', 'URLSearchParams'],
    ['text/csv', 'string'],
    ['image/png', 'Blob | ArrayBuffer | Uint8Array<ArrayBuffer> | ReadableStream'],
    ['application/xml', 'unknown']
  ]
  const paths = Object.fromEntries(
    messages.map(([type], index) => [
      `/p${index}/{id}`,
      {
        parameters: [
          { name: 'id', in: 'path', required: true, schema: text },
          { name: 'session', in: 'cookie', schema: text },
          { name: 'X-Tenant', in: 'header', required: true, schema: text }
        ],
        post: { requestBody: { content: { [type]: {} } }, responses: { default: { description: 'It.', content: { [type]: {} } } } }
      }
    ])
  )
  const { text: file, out, file: name } = await written(t, { openapi: '3.0.3', info: { title: 'Old', version: '1' }, paths })
  for (const [index, [, body]] of messages.entries()) t.ok(file.includes(`body?: ${body}`), `${index}: ${body}`)
  t.match(file, /'X-Tenant': string\n {10}\[name: string\]: string \| undefined/)
  t.match(file, 'code: string')
  t.match(out, 'warning: POST /p0/{id}: the cookie session cannot be sent by fetch.')
  t.match(out, 'warning: POST /p4/{id} body: the form of application/xml is not expressed.')
  await compiles(t, name)
})

t.test('a reference that leads to nothing or to itself is a warning with its place', async (t) => {
  const circle = { $ref: '#/components/parameters/circle' }
  const responses = { 200: { description: 'It.', content: { 'application/json': { schema: text } } } }
  const paths = {
    '/a': { get: { parameters: [circle], responses } },
    '/b': { get: { parameters: [{ $ref: '#/components/parameters/none' }], responses } }
  }
  const document = { openapi: '3.1.0', info: { title: 'A', version: '1' }, paths, components: { parameters: { circle } } }
  const { out, file } = await written(t, document)
  t.match(out, /warning: .*: the references form a circle\./)
  t.match(out, /warning: .*: the reference #\/components\/parameters\/none has no target in this document\./)
  await compiles(t, file)
})

t.test('codes of the service are separate from those that each operation has, and a job has the type of its result', async (t) => {
  const failure = json({ properties: { error: { properties: { code: { enum: ['TAKEN', 'SERVICE_UNAVAILABLE'] } } } } })
  const error = { 409: { description: 'It.', ...failure } }
  const record = { 202: { description: 'It.', ...json(text) }, ...error }
  const document = documentOf(
    { Report: { type: 'object', properties: { total: text } } },
    {
      paths: {
        '/reports': { post: { 'x-job': { status: '/reports/{id}', result: '/reports/{id}/result' }, responses: record } },
        '/reports/{id}/result': { get: { responses: { 200: { description: 'It.', ...json(referenceTo('Report')) } } } }
      }
    }
  )
  const { text: foreign } = await written(t, document)
  t.match(foreign, /own: 'SERVICE_UNAVAILABLE' \| 'TAKEN'/, 'another service does not tell them apart')
  const facts = { TAKEN: { own: true, retry: 'changed', effects: ['none'] }, SERVICE_UNAVAILABLE: { retry: 'later', effects: ['none'] } }
  const { text: file, file: name } = await written(t, { ...document, 'x-errors': facts })
  t.match(file, /own: 'TAKEN'\n {4}code: GeneralCodes1 \| 'TAKEN'/)
  t.match(file, /'\/reports': \{[^}]*result: Report\n/)
  await compiles(t, name)
})

t.test('a resource has the relations that include embeds, which are only in its selected form', async (t) => {
  const customer = { anyOf: [referenceTo('Customer'), { type: 'null' }] }
  const document = documentOf({
    Customer: { type: 'object', required: ['id'], properties: { id: text } },
    Order: { type: 'object', required: ['id', 'total'], properties: { id: text, total: text } },
    Read: {
      anyOf: [
        referenceTo('Order'),
        { type: 'object', required: ['id'], properties: { id: text, total: text, customer }, 'x-projection': true }
      ]
    }
  })
  const { text: types, file } = await written(t, document)
  t.match(types, /type Read = Order & \{\n {2}customer\?: Customer \| null \| undefined\n\}/)
  await compiles(t, file)
})

t.test('the released description of a whole service becomes a file that compiles, with its events and its session', async (t) => {
  const released = readFileSync(join(root, 'examples/orders-service/released/v2.json'), 'utf8')
  const { text: file, out, file: name } = await written(t, JSON.parse(released))
  t.equal(out.match(/warning/g), null)
  t.match(file, /'order\.created': OrderCreatedEvent\n/)
  t.match(file, "session: { signIn: '/v2/tokens', signOut: '/v2/token-revocations' }")
  t.match(file, /'GET \/v2\/orders': \{ lists: \[/)
  await compiles(t, name)
})

const ok = (schema: object) => ({ 200: { description: 'It.', ...json(schema) } })
const enveloped = (data: object) => ({ type: 'object', properties: { data, _meta: {} } })

t.test('integers of 64 bits are texts or bigint, with a table of where they are', async (t) => {
  const big = { type: 'integer', format: 'int64' }
  const order = { type: 'object', properties: { total: big, count: { type: 'integer', format: 'int32' }, parent: referenceTo('Order') } }
  const document = documentOf(
    {
      Order: order,
      Note: { type: 'object', properties: { text, kind: { ...big, enum: [1, 2] }, size: { ...big, minimum: 0, maximum: 2 ** 40 } } },
      Kinds: { anyOf: [big, referenceTo('Note'), { allOf: [referenceTo('Order')] }] },
      Pair: { type: 'array', prefixItems: [text, big], items: false },
      Sums: { type: 'object', additionalProperties: { type: ['integer', 'null'], format: 'int64' } },
      Open: { type: 'object', properties: { a: text }, additionalProperties: big }
    },
    {
      paths: {
        '/orders': {
          get: {
            parameters: [{ name: 'total', in: 'query', schema: big }],
            responses: ok(enveloped({ type: 'array', items: referenceTo('Order') }))
          },
          post: { requestBody: { required: true, ...json(referenceTo('Order')) }, responses: ok(enveloped(referenceTo('Order'))) }
        },
        '/notes': { post: { requestBody: { required: true, ...json(referenceTo('Note')) }, responses: ok(referenceTo('Note')) } },
        '/reports': { post: { 'x-job': { status: '/reports/{id}', result: '/reports/{id}/sums' }, responses: ok(text) } },
        '/reports/{id}/sums': { get: { responses: ok(referenceTo('Sums')) } },
        '/all': {
          put: {
            requestBody: {
              required: true,
              ...json({ properties: { kinds: referenceTo('Kinds'), pair: referenceTo('Pair'), open: referenceTo('Open') } })
            },
            responses: { 204: { description: 'Done.' } }
          }
        },
        '/batches': { post: { 'x-batch': {}, requestBody: { required: true, ...json({ type: 'object' }) }, responses: ok(text) } }
      },
      webhooks: { 'order.created': { post: { requestBody: json({ type: 'object', properties: { data: referenceTo('Order') } }) } } }
    }
  )
  for (const [form, type] of [
    ['text', 'string'],
    ['bigint', 'bigint']
  ] as const) {
    const { text: file, out, file: name } = await written(t, document, '--int64', form)
    t.equal(out.match(/warning/g), null, form)
    for (const declaration of [
      `total?: ${type} | undefined`,
      'count?: number | undefined',
      'kind?: 1 | 2 | undefined',
      'size?: number | undefined',
      `type Pair = [string, ${type}]`,
      `type Sums = { [name: string]: ${type} | null }`,
      "import { int64Json } from '@concordat/client/int64'",
      `json: int64Json('${form}', { sent: { '/orders': 'Order', '/all': { kinds: 'Kinds', pair: 'Pair', open: 'Open' } }, `,
      "received: { '/orders': [{ data: { '*': 'Order' } }, { data: 'Order' }], '/reports': 'Sums', '/reports/{id}/sums': 'Sums', 'order.created': { data: 'Order' } }, ",
      "types: { Order: { total: 1, parent: 'Order' }, Sums: { '*': 1 }, Kinds: [1, 'Order'], Pair: { '1': 1 }, Open: {} }, batches: ['/batches'] })"
    ])
      t.ok(file.includes(declaration), `${form}: ${declaration}\n${file.slice(file.indexOf('export const api'))}`)
    await compiles(t, name)
  }
  const plain = await written(t, documentOf({ A: text }), '--int64', 'text')
  t.notMatch(plain.text, 'int64Json', 'a description without them')
  await compiles(t, plain.file)
  t.match(await written(t, document, '--int64', 'number'), { code: 2, err: /^--int64 number is invalid\. Use text or bigint\./ })
})

t.test('the file has the digest of its description, where it has one', async (t) => {
  t.notMatch((await written(t, documentOf({ A: text }))).text, 'digest')
  const digest = 'sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:'
  const { text: file, file: name } = await written(t, documentOf({ A: text }, { 'x-digest': digest }))
  t.match(file, `  version: '1',\n  digest: '${digest}',\n`)
  await compiles(t, name)
})

t.test('--check fails when the file is out of date', async (t) => {
  const { source, file } = await written(t, documentOf({ A: text }))
  const check = () => concordat('client', source, '--out', file, '--check')
  t.match(await check(), { code: 0, out: /is up to date/ })
  writeFileSync(file, '')
  t.match(await check(), { code: 1, out: /is out of date\. Run: npx concordat client/ })
  rmSync(file)
  t.match(await check(), { code: 1 })
})

t.test('a description is read from an address too; only an invalid document stops', async (t) => {
  const bodies: Record<string, unknown> = { '/v1': documentOf({ A: text }), '/old': { swagger: '2.0' } }
  const server = createServer(({ url = '' }, response) => {
    const body = bodies[url]
    response.writeHead(body === undefined ? 404 : 200).end(JSON.stringify(body ?? {}))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const out = join(t.testdir({}), 'shop.ts')
  t.match(await concordat('client', `${address}/v1`, '--out', out), { code: 0, out: /was written/ })
  t.match(await concordat('client', `${address}/none`, '--out', out), { code: 2, err: /cannot be read: the response has the status 404/ })
  t.match(await concordat('client', `${address}/old`, '--out', out), { code: 2, err: /is not an OpenAPI document of version 3\.0 or 3\.1/ })
  t.match(await concordat('client', `${address}/v1`), { code: 2, err: /--out is missing/ })
  t.match(await written(t, { openapi: '3.1.0', info: {} }), { code: 2, err: /info\.title is missing/ })
  t.match(await written(t, { openapi: '3.1.0', info: { title: 'A', version: '1' }, paths: 1 }), { code: 2, err: /paths must be an object/ })
})
