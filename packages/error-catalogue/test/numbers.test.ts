import errorCatalogue, { errorCatalogueServerOptions } from '@concordat/error-catalogue'
import Fastify from 'fastify'
import t from 'tap'

type Schema = Readonly<Record<string, unknown>>
type Part = 'query' | 'params' | 'headers'

/** Returns a function that sends a text as the value `n` of a part of a request, and returns the value that the handler reads, or the error. */
async function reader(schema: Schema, part: Part = 'query', shared: readonly Schema[] = []) {
  const app = Fastify(errorCatalogueServerOptions())
  await app.register(errorCatalogue)
  for (const one of shared) app.addSchema(one)
  const declared = { type: 'object', properties: { n: schema }, definitions: { Size: { type: 'integer' } } }
  app.get(part === 'params' ? '/:n' : '/', { schema: { [part === 'query' ? 'querystring' : part]: declared } }, async (request) => {
    const { n } = request[part] as { n: unknown }
    return { read: Object.is(n, -0) ? 0 : n }
  })
  return async (...texts: readonly string[]) => {
    const query = texts.map((text) => `n=${encodeURIComponent(text)}`).join('&')
    const url = { query: `/?${query}`, params: `/${encodeURIComponent(texts[0] ?? '')}`, headers: '/' }[part]
    const response = await app.inject({ url, headers: part === 'headers' ? { n: texts[0] } : {} })
    const { error, read } = response.json()
    return response.statusCode === 200
      ? read
      : [response.statusCode, ...(error.errors ?? [error]).map(({ message }: { message: string }) => message)]
  }
}

const notNumbers = [
  'Infinity',
  '-Infinity',
  'NaN',
  '0x10',
  '0b11',
  '0o7',
  ' 10',
  '10 ',
  '\t1',
  '+5',
  '007',
  '-01',
  '00',
  '5.',
  '.5',
  '1_000',
  '1,5',
  '--1',
  '١',
  '',
  'ten',
  '1e',
  'e1',
  '5e+'
]
const notIntegers = [...notNumbers, '1e3', '1E2', '10.0', '1.5', '1e999']
const tooPrecise = 'must be within the range and the precision of 64-bit floating-point numbers'

t.test('accepts exactly the digits of an integer, within 2^53 - 1, in a query, a path and a header', async (t) => {
  for (const part of ['query', 'params', 'headers'] as const) {
    const send = await reader({ type: 'integer' }, part)
    for (const text of ['0', '-0', '7', '-12', '9007199254740991', '-9007199254740991'])
      t.equal(await send(text), Number(text) + 0, `${part} ${text}`)
    for (const text of notIntegers) {
      if (text === '' && part === 'params') continue
      // Node.js removes blanks around the value of a header.
      if (text.trim() !== text && part === 'headers') continue
      const refused = part === 'params' ? [404] : [422, 'must be of type integer']
      t.strictSame((await send(text)).slice(0, refused.length), refused, `${part} "${text}"`)
    }
    for (const [text, limit] of [
      ['9007199254740992', 'most 9007199254740991'],
      ['99999999999999999999', 'most 9007199254740991'],
      ['-9007199254740993', 'least -9007199254740991']
    ] as const)
      t.match(await send(text), part === 'params' ? [404] : [422, `must be at ${limit}`], `${part} ${text}`)
  }
})

t.test('accepts exactly the grammar of a JSON number with a finite value', async (t) => {
  for (const part of ['query', 'params', 'headers'] as const) {
    const send = await reader({ type: 'number' }, part)
    for (const text of ['0', '-0.5', '1.50', '1e3', '1E-7', '-2.5e+10', '1e308', '9007199254740991', '18014398509481984'])
      t.equal(await send(text), Number(text), `${part} ${text}`)
    for (const text of notNumbers) {
      if ((text === '' && part === 'params') || (text.trim() !== text && part === 'headers')) continue
      const refused = part === 'params' ? [404] : [422, 'must be of type number']
      t.strictSame((await send(text)).slice(0, refused.length), refused, `${part} "${text}"`)
    }
    for (const text of ['1e999', '-1e309', '9007199254740993', `1${'0'.repeat(part === 'params' ? 250 : 400)}1`])
      t.match(await send(text), part === 'params' ? [404] : [422, tooPrecise], `${part} ${text}`)
  }
})

t.test('reads numbers in lists, unions, references, defaults and nullable fields by the same grammar', async (t) => {
  const size = { $id: 'size', type: 'integer', maximum: 100 }
  for (const schema of [
    { type: 'array', items: { type: 'integer' } },
    { type: 'array', items: { $ref: 'size#' } },
    { type: 'array', items: { type: ['integer', 'null'] } },
    { type: 'array', items: { allOf: [{ type: 'number' }, { type: 'integer' }] } }
  ]) {
    const send = await reader(schema, 'query', [size])
    t.strictSame(await send('1', '20'), [1, 20], JSON.stringify(schema))
    t.strictSame(await send('1'), [1])
    for (const text of ['Infinity', '0x10', ' 2', '1e2'].filter((text) => text !== '1e2' || !JSON.stringify(schema).includes('number')))
      t.equal((await send('1', text))[0], 422, `${JSON.stringify(schema)} ${text}`)
  }
  for (const schema of [
    { $ref: 'size#' },
    { $ref: '#/definitions/Size' },
    { $id: 'own', type: 'integer' },
    { ...size },
    { type: ['integer', 'boolean'] },
    { type: 'integer', nullable: true },
    { anyOf: [{ type: 'integer' }, { const: 'all' }] },
    { oneOf: [{ type: 'integer', minimum: 0 }, { const: 'all' }] },
    { type: 'integer', default: 5, enum: [5, 10] }
  ]) {
    const send = await reader(schema, 'query', [size])
    t.equal(await send('10'), 10, JSON.stringify(schema))
    for (const text of ['Infinity', '0xa', '10 ', '1e1', '010', '10.0'])
      t.equal((await send(text))[0], 422, `${JSON.stringify(schema)} ${text}`)
  }
  t.equal(await (await reader({ type: 'integer', default: 5 }))(), 5)
  t.equal(await (await reader({ anyOf: [{ type: 'integer' }, { const: 'all' }] }))('all'), 'all')
  t.equal(await (await reader({ type: ['integer', 'boolean'] }))('true'), true)
  const text = await reader({ type: ['integer', 'string'] })
  for (const value of ['Infinity', '0x10', '007']) t.equal(await text(value), value, 'text stays text where the schema allows it')
})

t.test('reads the only item of a list that another parser of queries returns by the same grammar', async (t) => {
  const app = Fastify({ ...errorCatalogueServerOptions(), routerOptions: { querystringParser: (text) => ({ n: [text] }) } })
  await app.register(errorCatalogue)
  app.get('/', { schema: { querystring: { type: 'object', properties: { n: { type: 'integer' } } } } }, async ({ query }) => query)
  t.strictSame((await app.inject('/?7')).json(), { n: 7 })
  for (const text of ['Infinity', '0x10', '1e3']) t.equal((await app.inject(`/?${text}`)).statusCode, 422, text)
})

t.test('a declared range decides instead of 2^53 - 1, and no digit is lost in it', async (t) => {
  const narrow = await reader({ type: 'integer', minimum: 1, maximum: 50 })
  t.strictSame(await narrow('51'), [422, 'must be at most 50'])
  t.strictSame(await narrow('9007199254740993'), [422, 'must be at most 50'])
  t.strictSame(await (await reader({ type: 'integer', exclusiveMaximum: 50, exclusiveMinimum: 1 }))('50'), [422, 'must be less than 50'])
  const wide = await reader({ type: 'integer', minimum: 0, maximum: 1e20 })
  t.equal(await wide('9007199254740992'), 2 ** 53)
  t.equal(await wide('12345678901234567000'), 12_345_678_901_234_567_000, 'the digits that a double-precision number has')
  t.strictSame(await wide('9007199254740993'), [422, tooPrecise])
})

t.test('a boolean schema of a part stays as it is', async (t) => {
  const app = Fastify(errorCatalogueServerOptions())
  await app.register(errorCatalogue)
  app.get('/never/:n', { schema: { params: false } }, async () => ({}))
  app.get('/always/:n', { schema: { params: true, headers: true } }, async () => ({}))
  t.equal((await app.inject('/never/1')).statusCode, 404)
  t.equal((await app.inject('/always/1')).statusCode, 200)
})

/** Returns a function that sends JSON to a route with a body schema. It returns the body, or the status code and the errors. */
async function bodies(schema?: Schema) {
  const app = Fastify(errorCatalogueServerOptions())
  await app.register(errorCatalogue)
  app.post('/', { ...(schema !== undefined && { schema: { body: schema } }) }, async ({ body }) => ({ got: body }))
  return async (payload: string) => {
    const response = await app.inject({ method: 'POST', url: '/', payload, headers: { 'content-type': 'application/json' } })
    const { got, error } = response.json()
    if (response.statusCode === 200) return got
    return [response.statusCode, ...error.errors.map(({ field, message }: Record<string, string>) => `${field}: ${message}`)]
  }
}

t.test('returns 422 for a number of a JSON body that is not finite or loses digits, with and without a schema', async (t) => {
  const number = { type: 'number' }
  for (const schema of [
    undefined,
    { type: 'object', properties: { n: number, list: { type: 'array', items: number } }, additionalProperties: true }
  ]) {
    const send = await bodies(schema)
    for (const digits of [
      '1e999',
      '-1e999',
      '1E+400',
      '123.5e9999',
      '9007199254740993',
      '-9007199254740993',
      '12345678901234567890123',
      `1${'0'.repeat(309)}`
    ])
      for (const [payload, field] of [
        [`{"n":${digits}}`, 'body.n'],
        [`{"n": ${digits} }`, 'body.n'],
        [`{"a":1,\n"n":\n${digits}\n}`, 'body.n'],
        [`{"list":[1,${digits}]}`, 'body.list.1'],
        [`{"list":[\t${digits}]}`, 'body.list.0']
      ])
        t.strictSame(await send(payload as string), [422, `${field}: ${tooPrecise}`], payload as string)
    for (const digits of [
      '9007199254740991',
      '9007199254740992',
      '1e308',
      '1.5e-999',
      '0.12345678901234567890',
      '12345678901234567000',
      '1234567890123456.5',
      '-0',
      '100'
    ])
      t.strictSame(await send(`{"n":${digits}}`), { n: JSON.parse(digits) + 0 }, digits)
  }
  const free = await bodies()
  t.strictSame(await free('1e999'), [422, `body: ${tooPrecise}`])
  t.strictSame(await free('9007199254740993'), [422, `body: ${tooPrecise}`])
  t.strictSame(await free('{"a":"1e999","b":"9007199254740993","c":"x, 9007199254740993 [1e999","550e8400":"550e8400-e29b"}'), {
    a: '1e999',
    b: '9007199254740993',
    c: 'x, 9007199254740993 [1e999',
    '550e8400': '550e8400-e29b'
  })
  t.strictSame(await free(String.raw`{"a":"\u0000","b":[1e999,{"c":9007199254740993}]}`), [
    422,
    'body.a: must not contain a NUL character or an unpaired surrogate',
    `body.b.0: ${tooPrecise}`,
    `body.b.1.c: ${tooPrecise}`
  ])
  const deep = `${'['.repeat(65)}1e999${']'.repeat(65)}`
  t.strictSame((await free(deep).catch(() => [400]))[0], 400, 'nesting is checked first')
})

t.test('an integer of a JSON body is within 2^53 - 1 or its declared range', async (t) => {
  const send = await bodies({
    type: 'object',
    properties: { n: { type: 'integer' }, wide: { type: 'integer', maximum: 1e18 }, any: { type: ['integer', 'number'] } }
  })
  for (const n of [9007199254740991, -9007199254740991, 0, 10.0]) t.strictSame(await send(`{"n":${n}}`), { n })
  t.strictSame(await send('{"n":9007199254740992}'), [422, 'body.n: must be at most 9007199254740991'])
  t.strictSame(await send('{"n":1e20}'), [422, 'body.n: must be at most 9007199254740991'])
  t.strictSame(await send('{"n":-1e300}'), [422, 'body.n: must be at least -9007199254740991'])
  t.strictSame(await send('{"wide":9007199254740992}'), { wide: 9007199254740992 })
  t.strictSame(await send('{"any":1e300}'), { any: 1e300 })
})
