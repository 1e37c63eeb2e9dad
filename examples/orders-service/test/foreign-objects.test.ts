import { randomUUID } from 'node:crypto'
import t from 'tap'
import { password, startService } from './service.ts'

const { anyone, as, app } = await startService(t, { localWebhooks: true })
const ada = await as('ada@example.com')
const signIn = await anyone.request('POST', '/v1/tokens', { username: 'max@example.com', password })
const authorization = `Bearer ${signIn.body.data.accessToken}`

type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS'
type Headers = Readonly<Record<string, string>>

/** Returns what a client can know from a response, except for when it was sent and the ids that the client has sent. */
async function seen(method: Method, url: string, ids: readonly string[], headers: Headers, payload?: object) {
  const response = await app.inject({ method, url, headers: { authorization, ...headers }, ...(payload && { payload }) })
  const { date: _date, 'request-id': _id, ratelimit: _left, ...others } = response.headers
  const known = ids.reduce((text, id) => text.replaceAll(id, 'id'), JSON.stringify([others, response.payload]))
  return { status: response.statusCode, known: known.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'time') }
}

function withKey(headers: Headers): Headers {
  return { 'idempotency-key': randomUUID(), ...headers }
}

/** Creates an object of each kind that belongs to Ada. Returns their ids, by the segment of a path that precedes them. */
async function objectsOfAda() {
  const [order] = (await ada('GET', '/v1/orders')).body.data
  const [item] = (await ada('GET', `/v1/orders/${order.id}/items`)).body.data
  const accepted = await ada('POST', '/v1/order-exports', {})
  const subscription = await ada('POST', '/v1/webhook-subscriptions', { url: 'https://localhost:9/hooks', eventTypes: ['order.created'] })
  const job = `/v1/order-exports/${accepted.body.data.jobId}`
  let file: string | undefined
  while (file === undefined) {
    const { data } = (await ada('GET', job, undefined, { prefer: 'wait=5' })).body
    file = data._links
      .find(({ rel }: { rel: string }) => rel === 'result')
      ?.href.split('/')
      .at(-1)
  }
  return {
    customers: order.customerId,
    orders: order.id,
    items: item.id,
    'order-exports': accepted.body.data.jobId,
    files: file,
    'webhook-subscriptions': subscription.body.data.id,
    deliveries: randomUUID()
  } as Readonly<Record<string, string>>
}

/** Returns the paths of the description that have an id of such an object. */
async function pathsWith(objects: Readonly<Record<string, string>>) {
  const documents = await Promise.all(['v1', 'v2'].map(async (version) => (await anyone.get(`/${version}/openapi`)).body))
  const paths = documents.flatMap(({ paths: described, servers }) =>
    Object.keys(described).map((path) => new URL(`${servers[0].url}${path}`).pathname)
  )
  return paths
    .map(decodeURIComponent)
    .filter((path) => path.split('/').some((segment, index, all) => segment.startsWith('{') && (all[index - 1] as string) in objects))
}

const objects = await objectsOfAda()
const paths = await pathsWith(objects)

t.test('the objects of another user are the same as none, whatever the route, the method and the condition [U10]', async (t) => {
  t.ok(paths.length >= 20, paths.join(' '))
  let compared = 0
  for (const path of paths) {
    const segments = path.split('/')
    const filled = (idOf: (kind: string) => string) =>
      segments.map((segment, index) => (segment.startsWith('{') ? idOf(segments[index - 1] as string) : segment)).join('/')
    const foreign = filled((kind) => objects[kind] ?? randomUUID())
    const missingIds = Object.fromEntries(Object.keys(objects).map((kind) => [kind, randomUUID()]))
    const missing = filled((kind) => missingIds[kind] ?? randomUUID())
    const ids = [...Object.values(objects), ...Object.values(missingIds)]
    const { headers: own } = await ada('GET', foreign)
    const tag = own['etag'] ?? '"x"'
    const conditions: Headers[] = [
      {},
      { 'if-none-match': tag },
      { 'if-none-match': '*' },
      { 'if-match': tag },
      { 'if-match': '*' },
      { 'if-match': '"other"' },
      { 'if-modified-since': new Date(Date.now() + 60_000).toUTCString() },
      { 'if-unmodified-since': new Date(0).toUTCString() },
      { range: 'bytes=0-1' },
      { accept: 'text/html' },
      { prefer: 'wait=60' }
    ]
    const bodies = [{}, { note: 'x', contactName: 'x', eventTypes: ['order.created'], quantity: 1 }]
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const)
      for (const condition of method === 'PUT' || method === 'OPTIONS' ? [{}] : conditions)
        for (const payload of method.startsWith('P') ? bodies : [undefined]) {
          const [there, nowhere] = [
            await seen(method, foreign, ids, withKey(condition), payload),
            await seen(method, missing, ids, withKey(condition), payload)
          ]
          compared += 1
          const what = `${method} ${path} ${JSON.stringify(condition)} ${JSON.stringify(payload)}`
          if (there.status !== nowhere.status || there.known !== nowhere.known) t.strictSame(there, nowhere, what)
          if (there.status < 400 && method !== 'OPTIONS') t.fail(`${what}: ${there.status}`)
        }
  }
  t.ok(compared > 1000, `${compared} comparisons`)
})

t.test('the cursor of another user shows none of that user’s items [U10]', async (t) => {
  const own = await ada('GET', '/v1/orders?perPage=100')
  const theirs = new Set(own.body.data.map(({ id }: { id: string }) => id))
  const { body } = await ada('GET', '/v1/orders?perPage=1')
  const links = body._links.filter(({ href }: { href: string }) => /(after|before)=/.test(href))
  t.ok(links.length > 0)
  for (const { href } of links) {
    const { pathname, search } = new URL(href)
    const response = await app.inject({ url: `${pathname}${search}`, headers: { authorization } })
    const { data = [] } = response.json()
    t.notOk(
      data.some(({ id }: { id: string }) => theirs.has(id)),
      response.payload.slice(0, 200)
    )
  }
})
