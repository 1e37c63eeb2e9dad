import { createApiKey } from '@concordat/authentication'
import { testKit } from '@concordat/authentication/testing'
import conventions, { serverOptions } from '@concordat/conventions'
import { collection } from '@concordat/pagination-query'
import { runArray } from '@concordat/pagination-query/memory'
import { newSecret, newSigningKeyPair } from '@concordat/webhooks'
import { Type } from '@sinclair/typebox'
import Fastify from 'fastify'
import t from 'tap'

const jwt = testKit({ issuer: 'https://id.example', audience: 'things' }).token({ sub: 'ada' })
const [header, payload, signature] = jwt.split('.') as [string, string, string]
const kinds: Readonly<Record<string, string>> = {
  'a signed token': jwt,
  'an encrypted token': [Buffer.from('{"alg":"dir","enc":"A256GCM"}').toString('base64url'), '', payload, signature, header].join('.'),
  'a refresh token': `rt_${Buffer.alloc(54, 'refresh-').toString('base64url')}`,
  'an API key': createApiKey({ client: 'shop', permissions: [] }).key,
  'a webhook secret': newSecret(),
  'a private key of webhooks': newSigningKeyPair().privateKey
}

const everyCharacter = (text: string) =>
  text
    .split('')
    .map((character) => `%${character.charCodeAt(0).toString(16)}`)
    .join('')
const places: Readonly<Record<string, (token: string) => string>> = {
  'the path of an unknown resource': (token) => `/v1/unknown/${token}`,
  'the path, percent-encoded': (token) => `/v1/unknown/${encodeURIComponent(token)}/more`,
  'the path, with every character encoded': (token) => `/v1/unknown/${everyCharacter(token)}`,
  'the path, encoded twice': (token) => `/v1/unknown/${encodeURIComponent(everyCharacter(token))}`,
  'the path of another version': (token) => `/v9/things/${token}`,
  'outside the versions': (token) => `/${token}`,
  'a path parameter': (token) => `/v1/things/${encodeURIComponent(token)}`,
  'a part of a segment': (token) => `/v1/things/name:${encodeURIComponent(token)}`,
  'a parameter of a resource': (token) => `/v1/things/1?x=${encodeURIComponent(token)}&y=1`,
  'a parameter, encoded twice': (token) => `/v1/things/1?x=${encodeURIComponent(encodeURIComponent(token))}`,
  'the name of a parameter': (token) => `/v1/things/1?${encodeURIComponent(token)}=1`,
  'a parameter without a value': (token) => `/v1/things/1?${encodeURIComponent(token)}`,
  'several in one value': (token) => `/v1/things/1?x=1,${token},${encodeURIComponent(token)}`,
  'a URL in a value': (token) => `/v1/things/1?next=${encodeURIComponent(`https://a.example/b?c=${encodeURIComponent(token)}`)}`,
  'after a hash': (token) => `/v1/things/1#x=${token}`,
  'after a semicolon': (token) => `/v1/things/1;x=${token}`,
  'an unknown parameter of a collection': (token) => `/v1/things?x=${encodeURIComponent(token)}`,
  'the name of a parameter of a collection': (token) => `/v1/things?${encodeURIComponent(token)}=1`,
  'the sort order of a collection': (token) => `/v1/things?sort=${encodeURIComponent(token)}`,
  'the cursor of a collection': (token) => `/v1/things?after=${encodeURIComponent(token)}`,
  'the message of an error': (token) => `/v1/failures/${encodeURIComponent(token)}`,
  'a path that cannot be decoded': (token) => `/v1/things/%zz/${token}`,
  'an absolute target': (token) => `http://api.example.com/v1/things/1?x=${token}`
}

const Thing = Type.Object({ id: Type.String({ maxLength: 100 }), name: Type.String() })
const things = collection(Thing)({
  name: 'things',
  style: 'cursor',
  id: 'id',
  defaultSort: ['id'],
  sort: { keys: ['id'] },
  filter: { name: ['eq', 'in'] }
})

async function start(rows: readonly { id: string; name: string }[] = []) {
  const log = { text: '' }
  const app = Fastify({ ...serverOptions(), logger: { level: 'trace', stream: { write: (line: string) => void (log.text += line) } } })
  t.teardown(() => app.close())
  await app.register(conventions, {
    publicUrl: 'https://api.example.com',
    versions: { 1: {} },
    transportSecurity: { dangerouslyAllowHttp: 'loopback' },
    authentication: false,
    paginationQuery: { cursor: { secrets: ['fJ2mYp7Qw4Zt9LxN8vBc3KdR6sHg1TaE'] } }
  })
  await app.apiVersion(1, async (v1) => {
    v1.get('/things', { config: { collection: things }, schema: { response: { 200: Type.Array(Thing) } } }, async (request, reply) =>
      reply.page(runArray(rows, request.listQuery(things)))
    )
    v1.get('/things/:id', { schema: { response: { 200: Thing } } }, async (request) => {
      request.log.info({ target: request.url, nested: { params: request.params } }, `reading ${request.url}`)
      return { id: '1', name: 'a' }
    })
    v1.get('/failures/:id', { schema: { response: { 200: Thing } } }, async (request) => {
      throw new Error(`cannot read ${request.url}`, { cause: new Error(`${JSON.stringify(request.params)} is locked`) })
    })
  })
  return { app, log }
}

// A part of a token can be a secret too, and so can its encoded form.
function leaks(text: string, token: string) {
  let plain = text
  for (let depth = 0; depth < 3; depth++)
    plain = plain.replace(/%([\da-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
  const parts = Array.from({ length: Math.floor((token.length - 8) / 16) }, (_, index) => token.slice(8 + index * 16, 8 + (index + 1) * 16))
  return parts.filter((part) => plain.includes(part) || text.includes(part))
}

for (const [kind, token] of Object.entries(kinds)) {
  t.test(`${kind} in a URL appears in no log line, link, message or header of a response [U7] [S12]`, async (t) => {
    const { app, log } = await start()
    for (const [place, targetOf] of Object.entries(places)) {
      const before = log.text.length
      const { body, headers } = await app.inject(targetOf(token))
      const written = log.text.slice(before)
      t.match(written, /request completed/, `${place}: the request is logged`)
      t.strictSame(leaks(written, token), [], `${place}: no part of it is logged`)
      t.strictSame(leaks(body + JSON.stringify(headers), token), [], `${place}: no part of it is returned`)
      t.match(JSON.parse(body)._links[0], { rel: 'self', href: 'https://api.example.com/' }, `${place}: there is a self link`)
    }
  })
}

t.test('the other parameters and segments of such a URL stay', async (t) => {
  const { app } = await start()
  const selfOf = async (target: string) => JSON.parse((await app.inject(target)).body)._links[0].href.replace('https://api.example.com', '')
  t.equal(await selfOf(`/v1/things/1?y=1&x=${jwt}&z=2`), '/v1/things/1?y=1&z=2')
  t.equal(await selfOf(`/v1/unknown/${jwt}/parts/2`), '/v1/unknown/(hidden)/parts/2')
})

t.test('links with declared filters, cursors and UUIDs stay, and can be followed [K2] [Q5]', async (t) => {
  const names = [...Object.values(kinds), '018f4e2a-7c1b-7d3e-9a5f-0123456789ab', 'rt_018f4e2a-7c1b-7d3e-9a5f-0123456789ab', 'key.words.ey']
  const rows = names.flatMap((name, index) => [`${index}a`, `${index}b`].map((id) => ({ id, name })))
  const { app } = await start(rows)
  const call = async (path: string) => {
    const { statusCode, body } = await app.inject(path)
    const response = JSON.parse(body)
    const links = response._links.map(({ rel, href }: { rel: string; href: string }) => [rel, href.replace('https://api.example.com', '')])
    return { statusCode, ids: response.data.map(({ id }: { id: string }) => id), links: Object.fromEntries(links) }
  }
  for (const [index, name] of names.entries()) {
    for (const query of [`name=${encodeURIComponent(name)}`, `name%5Bin%5D=a,${encodeURIComponent(name)}`]) {
      const first = await call(`/v1/things?perPage=1&${query}`)
      t.strictSame([first.ids, first.links.self], [[`${index}a`], `/v1/things?perPage=1&${query}`])
      t.strictSame((await call(first.links.self)).ids, [`${index}a`])
      const second = await call(first.links.next)
      t.strictSame([second.ids, second.links.self], [[`${index}b`], first.links.next])
    }
  }
  for (const id of ['018f4e2a-7c1b-7d3e-9a5f-0123456789ab', 'rt_018f4e2a-7c1b-7d3e-9a5f-0123456789ab', 'release.1.0', 'eyes.left.right'])
    t.equal(JSON.parse((await app.inject(`/v1/things/${id}`)).body)._links[0].href, `https://api.example.com/v1/things/${id}`)
})
