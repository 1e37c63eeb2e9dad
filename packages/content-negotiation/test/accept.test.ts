import contentNegotiation, { chooseMediaType, notAcceptable } from '@concordat/content-negotiation'
import type { ApiError } from '@concordat/plugin-kit/api-error'
import * as fc from 'fast-check'
import Fastify from 'fastify'
import t from 'tap'

async function service() {
  const app = Fastify()
  await app.register(contentNegotiation)
  const lists = {
    json: undefined,
    csv: ['application/json', 'text/csv'],
    'csv-first': ['Text/CSV', 'text/html', 'text/csv'],
    image: ['image/png', 'image/jpeg', 'application/vnd.image+json']
  }
  for (const [name, produces] of Object.entries(lists)) {
    app.get(`/${name}`, { config: produces === undefined ? {} : { produces } }, (request) => ({ as: request.acceptedMediaType }))
  }
  return app
}

async function negotiated(app: Awaited<ReturnType<typeof service>>, url: string, accept: string) {
  const response = await app.inject({ url, headers: { accept } })
  return response.statusCode === 200 ? response.json().as : response.statusCode
}

t.test('evaluates Accept as in RFC 9110 [N1] [N2] [N4] [N5]', async (t) => {
  const app = await service()
  const [json, csv, html, png, jpeg] = ['application/json', 'text/csv', 'text/html', 'image/png', 'image/jpeg']
  const cases: [url: string, accept: string, expected: string | undefined | 406][] = [
    // common headers
    ['/json', 'application/json; charset=utf-8', json],
    ['/json', 'application/json; charset="UTF-8"', json],
    ['/json', 'application/json;version=1', json],
    ['/json', 'APPLICATION/JSON', json],
    ['/json', 'application/*', json],
    ['/json', 'text/html, */*;q=0.1', json],
    ['/json', 'application/json, text/plain, */*', json],
    ['/json', '*', json],
    ['/json', '*;q=0.5, text/html', json],
    // refused
    ['/json', 'text/html', 406],
    ['/json', 'application/json;q=0, */*', 406],
    ['/json', 'application/json;q=0', 406],
    ['/json', '*/*;q=0', 406],
    ['/json', 'application/json; charset=iso-8859-1', 406],
    ['/json', 'application/json;charset=*', json],
    ['/json', 'text/html, application/json;charset="*"', json],
    ['/json', 'text/html, application/json;version=1;version=2', json],
    ['/json', 'text/html, application/json;q=0.5;Q=0', json],
    ['/json', 'text/html, application/json;q=0;q=1', 406],
    ['/json', 'text/html, application/json;charset=utf-16;charset=utf-8', 406],
    ['/json', 'application/json; charset=iso-8859-1, */*', json],
    ['/json', 'application/vnd.api+json', 406],
    ['/json', 'application/*+json', 406],
    ['/json', 'text/html;q=0.9, application/xml', 406],
    // invalid: counts as absent
    ['/json', '', json],
    ['/json', ',,,', json],
    ['/json', 'json', json],
    ['/json', '*/json', json],
    ['/json', 'text/html;q', json],
    ['/json', 'text/html; a=1; A=2', 406],
    ['/json', 'json, text/html', 406],
    // weights
    ['/csv', 'application/json;q=0.5, text/csv', csv],
    ['/csv', 'application/json;q=1.5, text/csv', json],
    ['/csv', 'application/json, text/csv;q=1.5', json],
    ['/csv', 'application/json;q=.7, text/csv;q=0.6', json],
    ['/csv', 'application/json;q=abc, text/csv;q=0.1', csv],
    ['/csv', 'application/json;q=-1, text/csv;q=0.001', csv],
    ['/csv', 'application/json;q=.5, text/csv;Q=0.6', csv],
    ['/csv', 'text/csv ; q=0.2 , application/json ; q=0.1', csv],
    // the most specific range applies
    ['/csv', 'text/*;q=0.9, text/csv;q=0.1, application/json;q=0.5', json],
    ['/csv', 'text/*;q=0.9, text/csv;header=absent;q=0.1, application/json;q=0.5', json],
    ['/csv', '*/*;q=0.9, application/*;q=0.1', csv],
    ['/csv', 'application/json;q=0, application/*', 406],
    ['/csv', 'text/csv, text/*;q=0, application/json;q=0', csv],
    ['/csv', 'text/csv;header=absent;q=1, text/csv;q=0.1, application/json;q=0.5', json],
    ['/csv', 'text/csv;q=0.1, text/csv;q=0.9, application/json;q=0.5', csv],
    ['/csv', 'text/csv;charset=utf-8;q=0.1, text/csv;header=absent;q=0.9, application/json;q=0.5', json],
    // equal weights
    ['/csv-first', '*/*', json],
    ['/csv-first', 'application/xml, */*;q=0.8', json],
    ['/csv-first', 'application/*, text/*', csv],
    ['/csv-first', 'text/html, text/csv', csv],
    ['/csv-first', 'text/html, */*', html],
    ['/csv-first', 'application/json, */*', json],
    ['/csv', 'text/csv, */*', csv],
    ['/image', 'image/avif, image/webp, image/*, */*;q=0.8', png],
    ['/image', 'image/jpeg', jpeg],
    ['/image', 'application/json', json],
    ['/image', 'application/vnd.image+json', 'application/vnd.image+json'],
    // quoted strings hide separators
    ['/csv', 'text/csv;x="a,b;q=0";q=0.9, application/json;q=0.5', csv],
    ['/csv', 'text/csv;x="\\",";q=0.9, application/json;q=0.5', csv],
    ['/csv', 'text/csv;x="', json]
  ]
  for (const [url, accept, expected] of cases) t.equal(await negotiated(app, url, accept), expected, `${url} Accept: ${accept}`)
})

t.test('an operational route sends only the types that it lists [N2]', async (t) => {
  const app = Fastify()
  await app.register(contentNegotiation)
  const config: object = { operational: true, produces: ['text/html'] }
  app.get('/page', { config }, async (request, reply) => reply.type('text/html').send(request.acceptedMediaType))
  for (const [accept, expected] of [
    [undefined, 'text/html'],
    ['*/*', 'text/html'],
    ['text/html', 'text/html'],
    ['application/json, text/*;q=0.1', 'text/html'],
    ['application/json', 406],
    ['application/json, text/html;q=0', 406],
    [',', 'text/html']
  ] as const) {
    const { statusCode, body } = await app.inject({ url: '/page', headers: accept === undefined ? {} : { accept } })
    t.equal(statusCode === 200 ? body : statusCode, expected, `Accept: ${accept}`)
  }
})

t.test('406 lists each available type as an entry, before the body is validated [N2]', async (t) => {
  const app = Fastify()
  await app.register(contentNegotiation)
  app.setErrorHandler((error, _request, reply) => reply.send({ errors: (error as ApiError).errors }))
  app.addHook('preValidation', async () => t.fail('continued'))
  app.get('/report', { config: { produces: ['text/csv'] } }, async () => [])
  const response = await app.inject({ url: '/report', headers: { accept: 'text/html' } })
  t.strictSame(response.json().errors, [
    { field: 'header.accept', key: 'available', params: { mediaType: 'text/csv' }, message: 'text/csv is available' },
    { field: 'header.accept', key: 'available', params: { mediaType: 'application/json' }, message: 'application/json is available' }
  ])
})

t.test('a handler whose object has only one type can throw 406 itself [N2]', async (t) => {
  const app = Fastify()
  await app.register(contentNegotiation)
  app.get('/image', { config: { produces: ['image/png', 'image/jpeg'] } }, async (request, reply) => {
    const mediaType = chooseMediaType(request.headers.accept, ['image/png', 'application/json'])
    if (mediaType === undefined) throw notAcceptable(['image/png', 'application/json'])
    return mediaType === 'image/png' ? reply.type(mediaType).send(Buffer.from([0x89, 0x50])) : { size: 2 }
  })
  const response = await app.inject({ url: '/image', headers: { accept: 'image/jpeg' } })
  t.equal(response.statusCode, 406)
  t.match(response.json().message, / or omit the header\. Available: image\/png, application\/json\.$/)
  t.equal((await app.inject({ url: '/image', headers: { accept: 'image/*' } })).headers['content-type'], 'image/png')
  const second = await app.inject({ url: '/image', headers: { accept: 'image/jpeg, application/json;q=0.5' } })
  t.match(second.headers['content-type'], /^application\/json/, 'or responds with the second choice')
})

t.test('chooseMediaType returns JSON, or else the first type, without a preference [N1]', async (t) => {
  const png = ['image/png', 'application/json']
  for (const accept of [undefined, '', ',', '*/*', 'nonsense', `image/png;x=${'a'.repeat(2100)}`]) {
    t.equal(chooseMediaType(accept, png), 'application/json', `JSON for ${accept}`)
    t.equal(chooseMediaType(accept, ['text/csv', 'text/html']), 'text/csv', `CSV for ${accept}`)
    t.equal(chooseMediaType(accept, []), undefined, `nothing for ${accept}`)
  }
  t.equal(chooseMediaType('image/jpeg;q=0.9, image/png;q=0.1', png), 'image/png')
  t.equal(chooseMediaType('image/jpeg', png), undefined)
})

t.test('negotiates HEAD like GET, but not OPTIONS', async (t) => {
  const app = await service()
  app.options('/json', async () => 'options')
  t.equal((await app.inject({ method: 'HEAD', url: '/json', headers: { accept: 'text/html' } })).statusCode, 406)
  t.equal((await app.inject({ method: 'OPTIONS', url: '/json', headers: { accept: 'text/html' } })).body, 'options')
})

const refuse = (statusCode: number) => async () => {
  throw Object.assign(new Error('no'), { statusCode })
}

t.test('the onRequest hooks of the route and of its plugin run before the 406', async (t) => {
  const app = Fastify()
  await app.register(contentNegotiation)
  app.get('/private', { onRequest: refuse(401) }, async () => [])
  await app.register(async (retired) => {
    retired.addHook('onRequest', refuse(410))
    retired.get('/retired', { onRequest: [refuse(401)] }, async () => [])
  })
  t.equal((await app.inject({ url: '/private', headers: { accept: 'text/html' } })).statusCode, 401)
  t.equal((await app.inject({ url: '/retired', headers: { accept: 'text/html' } })).statusCode, 410)
})

t.test('the config of the route lists every type, and the object of the author is not changed [S3]', async (t) => {
  const app = Fastify()
  await app.register(contentNegotiation)
  const config = Object.freeze({ produces: Object.freeze(['Text/CSV', 'text/csv']) })
  app.get('/report', { config }, (request) => request.routeOptions.config)
  t.match((await app.inject('/report')).json(), { produces: ['text/csv', 'application/json'], consumes: ['application/json'] })
})

t.test('a header beyond 2,048 characters counts as absent', async (t) => {
  const app = await service()
  t.equal(await negotiated(app, '/json', `text/html;x=${'a'.repeat(2037)}`), 'application/json')
  t.equal(await negotiated(app, '/json', `text/html;x=${'a'.repeat(2036)}`), 406)
  t.equal(await negotiated(app, '/json', `text/html;x=${'a'.repeat(2036)}`), 406, 'a cached 406 is a 406 too')
})

const types = ['application/json', 'text/csv', 'text/html', 'image/png']

t.test('for any Accept, chooses the available type with the highest weight, or 406 if all weights are 0 [N1] [N2]', async (t) => {
  const app = Fastify()
  await app.register(contentNegotiation)
  app.get('/', { config: { produces: types } }, (request) => ({ as: request.acceptedMediaType }))
  const ranges = fc.uniqueArray(
    fc.record({
      range: fc.constantFrom(...types, 'text/*', 'image/*', 'application/*', '*/*', 'application/xml'),
      weight: fc.constantFrom(0, 0.1, 0.5, 1)
    }),
    { selector: ({ range }) => range, minLength: 1 }
  )
  await fc.assert(
    fc.asyncProperty(ranges, async (list) => {
      const weightOf = (type: string) =>
        [type, type.replace(/\/.*/, '/*'), '*/*']
          .map((range) => list.find((one) => one.range === range)?.weight)
          .find((weight) => weight !== undefined) ?? 0
      const heaviest = Math.max(...types.map(weightOf))
      const response = await app.inject({
        url: '/',
        headers: { accept: list.map(({ range, weight }) => `${range};q=${weight}`).join(', ') }
      })
      if (heaviest === 0) return response.statusCode === 406
      return response.statusCode === 200 && weightOf(response.json().as) === heaviest
    })
  )
  t.pass('property verified')
})

t.test('any Accept results in one of the types, or 406', async (t) => {
  const app = await service()
  const piece = fc.constantFrom(
    'text/csv',
    'application/json',
    '*/*',
    '*',
    ',',
    ';',
    'q=',
    '0.5',
    '"',
    '\\',
    ' ',
    '=',
    '/',
    'charset=',
    'x',
    '+json',
    '\u00e9'
  )
  const header = fc.oneof(
    fc.string({ maxLength: 60 }),
    fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join(''))
  )
  await fc.assert(
    fc.asyncProperty(header, async (accept) => {
      const chosen = await negotiated(app, '/csv', accept)
      return chosen === 'application/json' || chosen === 'text/csv' || chosen === 406
    }),
    { numRuns: 300 }
  )
  for (const worst of ['"\\', ';a="', ',', '*/*;', 'text/csv;q="\\"', ' \t', 'a/b;c=d;', '\\"']) {
    const chosen = await negotiated(app, '/csv', worst.repeat(2048 / worst.length))
    t.ok(['application/json', 'text/csv', 406].includes(chosen), `${worst} repeated`)
  }
})
