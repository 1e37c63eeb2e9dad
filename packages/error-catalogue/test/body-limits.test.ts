/* oxlint-disable unicorn/no-thenable -- then is a keyword of JSON Schema */
import { once } from 'node:events'
import { connect } from 'node:net'
import errorCatalogue, { type ErrorCatalogueOptions, errorCatalogueServerOptions } from '@concordat/error-catalogue'
import { randomFrom } from '@concordat/test-harness/random'
import Fastify, { type RouteShorthandOptions } from 'fastify'
import t, { type Test } from 'tap'

const defaultMembers = 5000
const leastMembers = 1000
const leastBytes = 65_536

/** A service with a route for each schema. */
async function service(
  t: Test,
  routes: Readonly<Record<string, RouteShorthandOptions>>,
  shared: readonly object[] = [],
  options: ErrorCatalogueOptions = {}
) {
  const app = Fastify(errorCatalogueServerOptions())
  t.teardown(() => app.close())
  await app.register(errorCatalogue, options)
  for (const schema of shared) app.addSchema(schema)
  for (const [url, options] of Object.entries(routes)) app.post(url, options, async () => 'ok')
  return {
    app,
    send: async (url: string, payload: string | Buffer, type = 'application/json') => {
      const response = await app.inject({ method: 'POST', url, payload, headers: { 'content-type': type } })
      const { code, message } = response.statusCode === 200 ? { code: 'OK', message: '' } : response.json().error
      return { code, limit: Number(/more than ([\d,]+) values/.exec(message)?.[1]?.replaceAll(',', '')) }
    }
  }
}

const zeros = (length: number) => `[${'0,'.repeat(length - 1)}0]`
const closed = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more })
const list = (items: object, maxItems: number) => ({ type: 'array', items, maxItems })
const number = { type: 'integer' }
const text = { type: 'string', maxLength: 10 }
const tree = { $id: 'tree', ...closed({ children: list({ $ref: 'tree#' }, 10_000) }) }
const row = { $id: 'row', ...closed({ a: number, b: number, c: number, d: number }) }

// For each schema the number of values that a body may have. Where the schema does not limit them, it is the default at least.
const schemas: readonly (readonly [name: string, schema: unknown, members: number])[] = [
  ['no schema', undefined, defaultMembers],
  ['anything', {}, defaultMembers],
  ['true', { properties: { a: true } }, defaultMembers],
  ['a number', number, leastMembers],
  ['few properties', closed({ a: number, b: text }), leastMembers],
  ['a list without a limit', { type: 'array', items: number }, defaultMembers],
  ['a list of the default length', list(number, 3000), 3000],
  ['a long list', list(number, 12_000), 12_000],
  ['a list of rows', list(closed({ a: number, b: number, c: number }), 2000), 8000],
  ['a list of lists', list(list(number, 99), 100), 10_000],
  ['a list of rows by a reference', list({ $ref: 'row#' }, 2000), 10_000],
  ['a reference to a part', { type: 'array', maxItems: 2000, items: { $ref: '#/$defs/Row' }, $defs: { Row: closed({ a: number }) } }, 4000],
  ['a reference to nothing', closed({ a: { $ref: 'later#' } }), defaultMembers],
  ['a tree', { $ref: 'tree#' }, 1 + 10_000 * 51],
  ['a list of anything', list({}, 200), 200 * 51],
  ['a list of objects with any members', list(closed({ id: text }, { additionalProperties: true }), 100), 100 * 52],
  ['a map with a limit', { type: 'object', additionalProperties: number, maxProperties: 8000 }, 8000],
  ['a map without a limit', { type: 'object', additionalProperties: number }, defaultMembers],
  [
    'names by a pattern',
    { type: 'object', patternProperties: { '^x': list(number, 9) }, additionalProperties: false, maxProperties: 600 },
    6000
  ],
  ['names by a pattern without a limit', { type: 'object', patternProperties: { '^x': number } }, defaultMembers],
  ['a tuple of draft 7', { type: 'array', items: [list(number, 4000), number], additionalItems: false }, 4002],
  ['a tuple of draft 7 with others', { type: 'array', items: [number], additionalItems: list(number, 9), maxItems: 501 }, 5001],
  [
    'a tuple of draft 2020-12',
    { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'array', prefixItems: [list(number, 4000)], items: false },
    4001
  ],
  ['a union', { anyOf: [list(number, 2000), list(closed({ a: number }), 3000), { type: 'null' }] }, 6000],
  ['a union with a list without a limit', { oneOf: [list(number, 2000), { type: 'array', items: number }] }, defaultMembers],
  ['all of two schemas', { type: 'object', allOf: [closed({ a: list(number, 2000) }), closed({ b: list(number, 3000) })] }, 5002],
  ['the shorter of two limits', { allOf: [list(number, 9000), list(number, 2000)] }, 2000],
  ['a limit beside a list without one', { type: 'array', allOf: [{ maxItems: 2000 }, list(number, 9000)] }, 9000],
  [
    'a condition',
    closed({ a: number }, { if: { required: ['a'] }, then: closed({ b: list(number, 3000) }), else: { required: ['b'] } }),
    3002
  ],
  ['what another property requires', closed({ a: number }, { dependentSchemas: { a: closed({ b: list(number, 3000) }) } }), 3002],
  ['constants', { enum: [[1, 2], { a: 1 }] }, leastMembers],
  ['one constant', { const: null }, leastMembers],
  ['several types', { ...list(number, 2000), type: ['array', 'null', 'string'] }, 2000],
  ['by media type', { content: { 'application/json': { schema: list(number, 2000) }, 'text/plain': { schema: { type: 'string' } } } }, 2000]
]

t.test('a body may have as many values as its schema allows, or the default [X6]', async (t) => {
  const routes = Object.fromEntries(schemas.map(([, body], at) => [`/${at}`, body === undefined ? {} : { schema: { body } }]))
  const later = { $id: 'later', type: 'number' }
  const { app, send } = await service(t, routes, [tree, row])
  app.addSchema(later)
  for (const [at, [name, , members]] of schemas.entries()) {
    const url = `/${at}`
    if (members > 30_000) {
      t.not((await send(url, zeros(30_000))).code, 'PAYLOAD_TOO_LARGE', name)
      continue
    }
    t.strictSame(await send(url, zeros(members + 1)), { code: 'PAYLOAD_TOO_LARGE', limit: members }, name)
    t.not((await send(url, zeros(members))).code, 'PAYLOAD_TOO_LARGE', `${name}, at its limit`)
  }
})

t.test('a route that decides itself what is valid has at least the default', async (t) => {
  const body = closed({ a: number })
  const { send } = await service(t, {
    '/errors': { schema: { body }, attachValidation: true },
    '/compiler': { schema: { body }, validatorCompiler: () => () => true },
    '/more': { schema: { body: list(number, 7000) }, validatorCompiler: () => () => true }
  })
  for (const [url, members] of [
    ['/errors', defaultMembers],
    ['/compiler', defaultMembers],
    ['/more', 7000]
  ] as const) {
    t.equal((await send(url, zeros(members))).code, 'OK', url)
    t.strictSame(await send(url, zeros(members + 1)), { code: 'PAYLOAD_TOO_LARGE', limit: members }, url)
    t.equal((await send(url, JSON.stringify({ a: 'x'.repeat(leastBytes) }))).code, 'OK', `${url}, bytes`)
  }
})

t.test('the text of a refusal is in the language of the client', async (t) => {
  const { app } = await service(t, { '/': {} }, [], { locale: () => 'es' })
  const refused = await app.inject({ method: 'POST', url: '/', payload: zeros(6000), headers: { 'content-type': 'application/json' } })
  t.match(refused.json().error, { status: 413, message: 'El cuerpo tiene más de 5000 valores. Envíe menos en una petición.' })
})

const contents: Readonly<Record<string, (bytes: number) => string>> = {
  whitespace: (bytes) => `${' '.repeat(bytes - 9)}{"a":"x"}`,
  'a long text': (bytes) => `{"a":"${'x'.repeat(bytes - 8)}"}`,
  'a text of two bytes a character': (bytes) => `{"a":"${'é'.repeat((bytes - 8) / 2)}"}`,
  'a text of escapes': (bytes) => `{"a":"${String.raw`\n`.repeat((bytes - 8) / 2)}"}`,
  'an unknown member': (bytes) => `{"b":"${'{'.repeat(bytes - 8)}"}`,
  'a byte order mark': (bytes) => `\ufeff{"a":"${'x'.repeat(bytes - 11)}"}`,
  'a long number': (bytes) => `{"a":${'1'.repeat(bytes - 6)}}`,
  'no JSON': (bytes) => '"'.repeat(bytes)
}

t.test('a body may have as many bytes as its schema allows, and never fewer than 64 KiB [X6]', async (t) => {
  const long = { type: 'string', maxLength: 10_000 }
  const limits = { '/short': leastBytes, '/long': 10_000 * 12 + 6 + 64, '/unlimited': 524_288, '/own': 100_000 }
  const { send } = await service(t, {
    '/short': { schema: { body: closed({ a: text }) } },
    '/long': { schema: { body: closed({ a: long }) } },
    '/unlimited': { schema: { body: closed({ a: { type: 'string' } }) } },
    '/own': { schema: { body: closed({ a: text }) }, bodyLimit: 100_000 }
  })
  for (const [url, limit] of Object.entries(limits)) {
    for (const [name, content] of Object.entries(contents)) {
      for (const bytes of [limit - 2, limit]) {
        const payload = content(bytes)
        t.equal(Buffer.byteLength(payload), bytes, `${name}: the length`)
        t.not((await send(url, payload)).code, 'PAYLOAD_TOO_LARGE', `${url} ${name} ${bytes - limit}`)
      }
      t.equal((await send(url, content(limit + 2))).code, 'PAYLOAD_TOO_LARGE', `${url} ${name} +2`)
    }
  }
})

/** Returns a function that returns a number from 0 to below its argument. */
function sequence(seed: number) {
  const random = randomFrom(seed)
  return (below: number) => Math.floor(random() * below)
}

const characters = ['a', 'é', '😀', '"', '\\', '[', ']', '{', '}', ',', ':', '\n', '\u0000', '\ud83d', '\ude00', '0', 'e']
const odd = /\0|\p{Surrogate}/u
const numbers = [
  '0',
  '-1',
  '1.5',
  '1e5',
  '9007199254740993',
  '-9007199254740993',
  '123456789012345',
  '1234567890123456',
  '0.12345678901234567890',
  '1e400',
  '-1E+400',
  '1e-400',
  '1234567890123456789e1',
  '1e99',
  '12345678901234567.5'
]

/** Writes a random JSON text, with random whitespace and escapes. */
function randomJson(pick: (below: number) => number, levels: number, isStorable: boolean): string {
  const space = () => ['', '', ' ', '\n\t'][pick(4)] as string
  const string = () => {
    const all = Array.from({ length: pick(6) }, () => characters[pick(characters.length)] as string)
    const chosen = isStorable ? all.filter((one) => !odd.test(one)) : all
    return pick(2) === 0
      ? JSON.stringify(chosen.join(''))
      : `"${chosen.join('').replaceAll(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)}"`
  }
  // JSON.parse does not show repeated keys.
  let keys = 0
  const key = () => (isStorable ? JSON.stringify(`${(keys += 1)}${characters[pick(12)]}`) : string())
  const value = (left: number): string => {
    const kind = pick(left === 0 ? 3 : 5)
    if (kind === 0) return string()
    if (kind === 1) return (isStorable ? numbers.slice(0, 4) : numbers)[pick(isStorable ? 4 : numbers.length)] as string
    if (kind === 2) return ['true', 'false', 'null', '""'][pick(4)] as string
    const members = Array.from(
      { length: pick(5) },
      () => `${space()}${kind === 3 ? '' : `${key()}${space()}:`}${space()}${value(left - 1)}${space()}`
    )
    return kind === 3 ? `[${space()}${members.join(',')}]` : `{${space()}${members.join(',')}}`
  }
  return value(levels)
}

/** Counts the members of a JSON text without repeated keys. */
function membersOf(json: string): number {
  // The value itself is not a member.
  let members = -1
  JSON.parse(json, (_key, value) => {
    members += 1
    return value
  })
  return members
}

t.test('members are counted as JSON.parse finds them, whatever their texts contain', async (t) => {
  const { send } = await service(t, { '/': {} })
  for (let seed = 1; seed <= 150; seed += 1) {
    const pick = sequence(seed)
    const part = `[${randomJson(pick, 4, true)}]`
    const ofPart = membersOf(part) + 1
    const parts = Array.from({ length: Math.floor(defaultMembers / ofPart) }, () => part)
    const rest = Array.from({ length: defaultMembers - parts.length * ofPart }, () => '1')
    const at = [...parts, ...rest]
    t.equal((await send('/', `[${at.join(',')}]`)).code, 'OK', `seed ${seed}`)
    t.equal((await send('/', `[${at.join(' ,\n')},1]`)).code, 'PAYLOAD_TOO_LARGE', `seed ${seed}, one more`)
  }
})

t.test('values that cannot be stored are found, and text that is not JSON stays a 400', async (t) => {
  const { send } = await service(t, { '/': {} })
  const found = new Map<string, number>()
  for (let seed = 1; seed <= 600; seed += 1) {
    const pick = sequence(seed * 7919)
    const whole = `[${randomJson(pick, 4, false)},${randomJson(pick, 3, false)}]`
    const place = pick(whole.length)
    const json = seed % 3 > 0 ? whole : whole.slice(0, place) + (['', '"', '[', ',', '\\', '0'][pick(6)] as string) + whole.slice(place + 1)
    const { code } = await send('/', json)
    const expected = expectedCode(json)
    found.set(expected, (found.get(expected) ?? 0) + 1)
    t.equal(code, expected, `seed ${seed}: ${json.slice(0, 200)}`)
  }
  for (const code of ['OK', 'VALIDATION_FAILED', 'MALFORMED_JSON']) t.ok((found.get(code) ?? 0) > 30, `${code}: ${found.get(code)} times`)
})

function isUnstorable(text: string) {
  return text.includes('\0') || !text.isWellFormed()
}

function expectedCode(json: string): string {
  let isOdd = false
  // A text with half of a pair arrives as UTF-8, which has none.
  const received = Buffer.from(json).toString()
  try {
    JSON.parse(received, ((key: string, value: unknown, { source }: { source?: string }) => {
      const isLost =
        typeof value === 'number' &&
        (!Number.isFinite(value) || (/^-?\d+$/.test(source ?? '') && String(value) !== source && source !== '-0'))
      if (isUnstorable(key) || (typeof value === 'string' && isUnstorable(value)) || isLost) isOdd = true
      return value
    }) as (key: string, value: unknown) => unknown)
    return isOdd ? 'VALIDATION_FAILED' : 'OK'
  } catch {
    return 'MALFORMED_JSON'
  }
}

t.test('a text that is too deep is not parsed, and one that is not JSON and has no more levels or values is a 400', async (t) => {
  const { send } = await service(t, { '/': {} })
  for (const [json, code] of [
    ['['.repeat(65), 'JSON_TOO_DEEP'],
    ['{"a":'.repeat(65), 'JSON_TOO_DEEP'],
    ['['.repeat(64), 'MALFORMED_JSON'],
    [']'.repeat(200) + '['.repeat(200), 'MALFORMED_JSON'],
    [`"${'['.repeat(5000)}"`, 'OK'],
    [`["${String.raw`\"`.repeat(50)}${'[,'.repeat(6000)}"]`, 'OK'],
    [`["${String.raw`\\`}",${'['.repeat(64)}`, 'JSON_TOO_DEEP'],
    [`"${String.raw`\"`}`, 'MALFORMED_JSON'],
    [String.raw`"\u`, 'MALFORMED_JSON'],
    [String.raw`"\ud83d\u`, 'MALFORMED_JSON'],
    ['[012345678901234567890]', 'MALFORMED_JSON'],
    ['[1e]', 'MALFORMED_JSON'],
    ['[1.]', 'MALFORMED_JSON'],
    ['[12345678901234567890', 'MALFORMED_JSON'],
    [','.repeat(4999), 'MALFORMED_JSON'],
    [','.repeat(5001), 'PAYLOAD_TOO_LARGE'],
    [`{"__proto__":${zeros(4000)}}`, 'MALFORMED_JSON']
  ] as const)
    t.equal((await send('/', json)).code, code, json.slice(0, 40))
})

t.test('a body is counted over all of its chunks, wherever they are divided', async (t) => {
  const { app } = await service(t, { '/': {} })
  const address = new URL(await app.listen({ port: 0, host: '127.0.0.1' }))
  for (const [json, status] of [
    [`[${String.raw`"é\"[,\\", `.repeat(2499)}${zeros(2500)}]`, 200],
    [`[${String.raw`"é\"[,\\", `.repeat(2500)}${zeros(2500)}]`, 413]
  ] as const) {
    const bytes = Buffer.from(json)
    for (const at of [3, 4, 6, 8, 10]) {
      const socket = connect(Number(address.port), address.hostname)
      socket.write(
        'POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n'
      )
      for (const part of [bytes.subarray(0, at), bytes.subarray(at)]) {
        socket.write(`${part.length.toString(16)}\r\n`)
        socket.write(part)
        socket.write('\r\n')
      }
      socket.write('0\r\n\r\n')
      const [first] = await once(socket, 'data')
      t.match(String(first), `HTTP/1.1 ${status}`, `${at}`)
      socket.destroy()
    }
  }
})
