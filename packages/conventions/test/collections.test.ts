import conventions, { type ConventionsOptions, serverOptions } from '@concordat/conventions'
import { collection } from '@concordat/pagination-query'
import { runArray } from '@concordat/pagination-query/memory'
import { Type } from '@sinclair/typebox'
import Fastify from 'fastify'
import t from 'tap'

const Thing = Type.Object({ id: Type.String(), name: Type.String() })
const things = collection(Thing)({ name: 'things', style: 'page', id: 'id', defaultSort: ['name'], sort: { keys: ['name'] } })
const rows = ['c', 'a', 'b'].map((name) => ({ id: `id-${name}`, name }))

async function service(options: Partial<ConventionsOptions> = {}) {
  const app = Fastify(serverOptions())
  await app.register(conventions, {
    publicUrl: 'https://api.example.com',
    versions: { 1: { status: 'current' } },
    transportSecurity: { dangerouslyAllowHttp: 'loopback' },
    authentication: false,
    ...options
  })
  await app.apiVersion(1, async (v1) => {
    const config = options.paginationQuery === false ? {} : { collection: things }
    v1.get('/things', { config, schema: { response: { 200: Type.Array(Thing) } } }, async (request, reply) =>
      options.paginationQuery === false ? rows : reply.page(runArray(rows, request.listQuery(things)))
    )
    v1.get('/whole-things', { config, schema: { response: { 200: Type.Array(Thing) } } }, async () => rows)
  })
  return app
}

t.test('a page has its rows, links and totals in the envelope, the timestamp last [E2] [E3] [G2]', async (t) => {
  const app = await service()
  const { headers, body } = await app.inject('/v1/things?perPage=1&page=2&fields=id')
  const response = JSON.parse(body)
  t.strictSame(response.data, [{ id: 'id-b' }])
  t.strictSame(
    response._links.map(({ rel, href }: { rel: string; href: string }) => `${rel} ${href.replace('https://api.example.com', '')}`),
    [
      'self /v1/things?perPage=1&page=2&fields=id',
      'first /v1/things?fields=id&perPage=1&page=1',
      'prev /v1/things?fields=id&perPage=1&page=1',
      'next /v1/things?fields=id&perPage=1&page=3',
      'last /v1/things?fields=id&perPage=1&page=3'
    ]
  )
  t.strictSame(response._meta.pagination, { page: 2, perPage: 1, totalPages: 3, totalItems: 3 })
  t.strictSame(Object.keys(response._meta), ['version', 'pagination', 'timestamp'])
  t.equal(headers['link'], undefined)
})

t.test('a filter may have an ambiguous name, and is part of every link of its own route and of no other [K3] [Q5]', async (t) => {
  const names = ['code', 'key', 'session', 'size', 'order', 'take', 'skip', 'cursor']
  const Part = Type.Object({ id: Type.String(), ...Object.fromEntries(names.map((name) => [name, Type.String()])) })
  const parts = collection<Record<string, string>>(Part)({
    name: 'parts',
    style: 'page',
    id: 'id',
    defaultSort: ['id'],
    sort: { keys: ['id'] },
    filter: Object.fromEntries(names.map((name) => [name, ['eq', 'in']])) as Record<never, never>
  })
  const stored = ['1', '2', '3'].map((id) => ({ id, ...Object.fromEntries(names.map((name) => [name, id === '3' ? 'b' : 'a'])) }))
  const app = await service()
  await app.apiVersion(1, async (v1) => {
    v1.get('/parts', { config: { collection: parts }, schema: { response: { 200: Type.Array(Part) } } }, async (request, reply) =>
      reply.page(runArray<Record<string, string>>(stored, request.listQuery(parts)))
    )
  })
  const call = async (path: string) => {
    const { statusCode, body } = await app.inject(path)
    const response = JSON.parse(body)
    const links = response._links.map(({ rel, href }: { rel: string; href: string }) => [rel, href.replace('https://api.example.com', '')])
    return { statusCode, ids: response.data?.map(({ id }: { id: string }) => id), links: Object.fromEntries(links) }
  }
  const described = JSON.parse((await app.inject('/v1/openapi')).body)
  const parameters = described.paths['/v1/parts'].get.parameters.map(({ name }: { name: string }) => name)
  for (const name of names) {
    for (const query of [`${name}=a`, `${name}%5Bin%5D=a,c`]) {
      const first = await call(`/v1/parts?perPage=1&${query}`)
      t.strictSame([first.ids, first.links.self], [['1'], `/v1/parts?perPage=1&${query}`])
      t.strictSame((await call(first.links.self)).ids, ['1'])
      const next = await call(first.links.next)
      t.strictSame([next.ids, next.links.next], [['2'], undefined], `${query} applies to the second page too`)
      const refused = await call(`/v1/parts?perPage=0&${query}`)
      t.strictSame([refused.statusCode, refused.links.self], [422, `/v1/parts?perPage=0&${query}`])
    }
    t.ok(parameters.includes(name) && parameters.includes(`${name}[in]`), `${name} is described`)
  }
  for (const credential of ['code=a', 'key%5Bin%5D=a', 'session=a']) {
    t.equal((await call(`/v1/things?perPage=1&${credential}`)).links.self, '/v1/things?perPage=1')
    t.equal((await call(`/v1/nothing?${credential}`)).links.self, '/v1/nothing')
  }
  t.equal((await call('/v1/parts?code=a&token=a&secret=a')).links.self, '/v1/parts?code=a')
  await app.close()
})

t.test('invalid parameters are a ValidationError in the language of the client', async (t) => {
  const app = await service()
  const { statusCode, body } = await app.inject({ url: '/v1/things?nmae=a', headers: { 'accept-language': 'es' } })
  t.equal(statusCode, 422)
  t.match(JSON.parse(body).error, {
    error: 'ValidationError',
    code: 'INVALID_QUERY_PARAMETERS',
    errors: [{ field: 'nmae', message: /no es un parámetro conocido/ }]
  })
})

t.test('OPTIONS returns 204 with Allow whatever the query, which is validated for the methods that use it [M8]', async (t) => {
  const app = await service({ cors: { origin: ['https://app.example'] } })
  const preflight = { origin: 'https://app.example', 'access-control-request-method': 'GET' }
  for (const query of [
    '?x=1',
    '?perPage=1e1',
    '?page=0&page=1',
    '?sort=nothing',
    '?name[nope]=a',
    '?after=none',
    '?%zz',
    '?access_token=a',
    '?'
  ]) {
    const url = `/v1/things${query}`
    const plain = await app.inject({ method: 'OPTIONS', url })
    t.match([plain.statusCode, plain.headers.allow], [204, 'GET, HEAD, OPTIONS'], query)
    const before = await app.inject({ method: 'OPTIONS', url, headers: preflight })
    t.match([before.statusCode, before.headers['access-control-allow-methods']], [204, 'GET, HEAD, OPTIONS'], `preflight ${query}`)
    if (query === '?') continue
    for (const method of ['GET', 'HEAD'] as const) t.ok((await app.inject({ method, url })).statusCode >= 400, `${method} ${query}`)
  }
})

t.test('responds with 500 to a list that is not a page, instead of sending the whole list [Q10]', async (t) => {
  const app = await service()
  t.equal((await app.inject('/v1/whole-things')).statusCode, 500)
})

t.test('without the envelope, links are in the Link header; without pagination the list has no links', async (t) => {
  const bare = await service({ envelope: false })
  const { headers, body } = await bare.inject('/v1/things?perPage=2')
  t.strictSame(
    JSON.parse(body).map(({ name }: { name: string }) => name),
    ['a', 'b']
  )
  t.match(headers['link'], /rel="?next"?/)
  const whole = await service({ paginationQuery: false, openapi: false })
  t.equal(JSON.parse((await whole.inject('/v1/things')).body)._meta.pagination, undefined)
})
