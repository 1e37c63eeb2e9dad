import conventions, { serverOptions } from '@concordat/conventions'
import Fastify from 'fastify'
import t from 'tap'

const Text = { type: 'object', properties: { text: { type: 'string' } } } as const

// The header, and the coding of a response that is large enough to be compressed; 406 if none is acceptable (RFC 9110 §12.5.3).
const cases: readonly (readonly [header: string | undefined, coding: string | undefined | 406])[] = [
  [undefined, undefined],
  ['gzip', 'gzip'],
  ['br', 'br'],
  ['gzip, br', 'br'],
  ['gzip;q=1, br;q=0.5', 'gzip'],
  ['*', 'gzip'],
  ['gzip;q=0, *', 'br'],
  ['*, gzip;q=0', 'br'],
  ['GZIP;Q=0 , *;q=0.5', 'br'],
  ['br;q=0, *', 'gzip'],
  ['br;q=0, gzip;q=0, *', undefined],
  ['identity, *;q=0', undefined],
  ['identity;q=1, gzip;q=0.5, *;q=0', undefined],
  ['gzip, *;q=0', 'gzip'],
  ['gzip, identity;q=0', 'gzip'],
  ['*;q=1, identity;q=0', 'br'],
  ['gzip;q=0', undefined],
  ['gzip;q=0, br;q=0', undefined],
  ['gzip;q=x', undefined],
  ['unknown;q=0.5', undefined],
  ['', undefined],
  [';q=1, ,', undefined],
  ['identity;q=0', 406],
  ['IDENTITY; q=0.000', 406],
  ['*;q=0', 406],
  ['gzip;q=0, identity;q=0', 406],
  ['gzip;q=0, *;q=0', 406],
  [`identity;q=0,${' '.repeat(3000)}`, undefined]
]

t.test('a response has a content coding that Accept-Encoding allows, or is a 406 that says so before the handler runs [N7]', async (t) => {
  let handled = 0
  const app = Fastify(serverOptions())
  t.teardown(() => app.close())
  await app.register(conventions, {
    publicUrl: 'https://api.example.com',
    versions: { 1: { status: 'current' } },
    transportSecurity: { dangerouslyAllowHttp: 'loopback' },
    authentication: false
  })
  await app.apiVersion(1, async (v1) => {
    const schema = { response: { 200: Text } }
    v1.get('/texts/:id', { schema: { ...schema, params: { type: 'object', properties: { id: { type: 'string' } } } } }, async () => {
      handled += 1
      return { text: 'tea '.repeat(500) }
    })
  })
  for (const [header, coding] of cases) {
    for (const method of ['GET', 'HEAD'] as const) {
      const before = handled
      const { statusCode, headers, body } = await app.inject({
        method,
        url: '/v1/texts/1',
        headers: header === undefined ? {} : { 'accept-encoding': header, 'accept-language': 'es' }
      })
      const what = `${method}, ${header}`
      t.equal(handled - before, coding === 406 ? 0 : 1, what)
      t.equal(statusCode, coding === 406 ? 406 : 200, what)
      if (method === 'HEAD') continue
      if (coding !== 406) t.equal(headers['content-encoding'], coding, what)
      else {
        t.match(JSON.parse(body).error, {
          code: 'NOT_ACCEPTABLE',
          message: /codificación de contenido/,
          errors: [{ field: 'header.accept-encoding', message: 'identity está disponible' }]
        })
      }
    }
  }
  t.equal((await app.inject({ method: 'OPTIONS', url: '/v1/texts/1', headers: { 'accept-encoding': 'identity;q=0' } })).statusCode, 204)
})
