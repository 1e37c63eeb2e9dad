// Measures what requests of one client can cost, and what others have of it: TEST_DATABASE_URL=… node --conditions=@concordat/source
// examples/orders-service/bench/costs.ts [--write] [word]. For each route, the processor time of the service for an ordinary request, and for
// requests that are as expensive as the limits allow. Then a client that sends the most expensive one as often as its limits allow, and what another
// client waits meanwhile. `--write` writes the tables into docs/overload.md; with a word, only routes with it are measured. Runs on Linux.
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { Agent, request as send } from 'node:http'
import { loadavg } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { pngOf } from '../test/png.ts'
import { cpuOf, createDatabase, startService } from './running-service.ts'

const word = process.argv.slice(2).find((argument) => argument !== '--write')
const isWritten = process.argv.includes('--write')
const folder = fileURLToPath(new URL('..', import.meta.url))
const document = new URL('../../../docs/overload.md', import.meta.url)
const password = 'correct horse battery staple'
// Enough for the resolution of the processor time, which is 10 ms.
const measuredSeconds = 0.2
const maxRequests = 400
const warming = 5
const maxTimes = 20
const agent = new Agent({ keepAlive: true, maxSockets: 50 })

interface Response {
  readonly status: number
  readonly text: string
  readonly ms: number
}
interface Input {
  readonly token?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly raw?: string | Buffer | undefined
  readonly body?: unknown
}
type Call = () => Promise<Response>
interface Attack {
  readonly address: string
  readonly path: string
  readonly token: string
  readonly raw: string
}
interface Kind {
  readonly ordinary: Call
  /** How many ordinary requests a limit that stays on allows. */
  readonly most?: number
  readonly shapes: Readonly<Record<string, Call>>
}

if (isMainThread) {
  const database = await createDatabase('orders_costs_bench')
  try {
    await measure(database.url)
  } finally {
    await database.drop()
  }
} else {
  await attack(workerData as Attack)
}

async function measure(databaseUrl: string) {
  const open = await startService(folder, { DATABASE_URL: databaseUrl, RATE_LIMIT: 'off', SEED_ORDERS: '1000' })
  const costs: string[] = []
  try {
    for (const [route, { ordinary, most, shapes }] of Object.entries(await kinds(open.address))) {
      if (word !== undefined && !route.includes(word)) continue
      const base = await costOf(ordinary, open.child.pid as number, most)
      costs.push(`| ${route} | ordinary | ${base.status} | ${base.ms.toFixed(1)} | |`)
      for (const [name, call] of Object.entries(shapes)) {
        const cost = await costOf(call, open.child.pid as number)
        const times = cost.ms / base.ms
        costs.push(`| | ${name} | ${cost.status} | ${cost.ms.toFixed(1)} | ${times.toFixed(1)}${times > maxTimes ? ', too much' : ''} |`)
        console.log(costs.at(-1))
      }
    }
  } finally {
    open.child.kill('SIGKILL')
  }
  const table = ['| route | body or query | status | processor time, ms | times |', '| --- | --- | --- | --- | --- |', ...costs]
  const others = word === undefined || word === 'others' ? await measureOthers(databaseUrl) : ''
  const text = `${today()}, load ${load()}:\n\n${table.join('\n')}\n${others}`
  console.log(text)
  if (isWritten) writeBetween('costs', text)
}

/** Returns the processor time of a request, and its status. */
async function costOf(call: Call, pid: number, most = maxRequests) {
  const statuses = new Set<number>()
  let count = 0
  // The first ones compile what they run.
  for (let at = 0; at < warming; at += 1) await call()
  const before = cpuOf([pid])
  while (count < 4 || (cpuOf([pid]) - before < measuredSeconds && count < most - warming)) {
    statuses.add((await call()).status)
    count += 1
  }
  return { ms: ((cpuOf([pid]) - before) * 1000) / count, status: [...statuses].join(', ') }
}

function wide(members: number) {
  return `{${Array.from({ length: members }, (_, at) => `"k${at}":1`).join()}}`
}

function filled(length: number, item: string) {
  return `[${Array.from({ length }, () => item).join()}]`
}

function operations(length: number, operation: object) {
  return JSON.stringify({ operations: Array.from({ length }, (_, at) => ({ id: `o${at}`, ...operation })) })
}

function text(name: string) {
  return (of: string) => `{"${name}":"${of}"}`
}

/** Bodies at and beyond the limits of any route, each with the given members too. */
function bodies(member: string, longText: (of: string) => string): Readonly<Record<string, string>> {
  const unknown = (value: string) => `{${member},"unknown":${value}}`
  return {
    'no JSON': `{${member}`,
    '900 unknown members': `{${member},${wide(900).slice(1)}`,
    '4,900 members in one': unknown(wide(4900)),
    '80,000 members': unknown(wide(80_000)),
    '900 numbers': unknown(filled(900, '1.2345678901234567')),
    '900 numbers that lose digits': unknown(filled(900, '12345678901234567890')),
    '900 texts with NUL': unknown(filled(900, String.raw`"\u0000"`)),
    '200,000 numbers': unknown(filled(200_000, '1')),
    '64 levels': unknown('['.repeat(63) + ']'.repeat(63)),
    '200,000 levels': unknown('['.repeat(200_000) + ']'.repeat(200_000)),
    'a text of 60 KB': longText('x'.repeat(60_000)),
    'a text of 60 KB of escapes': longText(String.raw`\u00e9`.repeat(10_000)),
    'a text of 500 KB': longText('x'.repeat(500_000)),
    'a text of 900 KB': longText('x'.repeat(900_000)),
    'a name of 60 KB': `{${member},"${'n'.repeat(60_000)}":1}`
  }
}

async function kinds(address: string): Promise<Readonly<Record<string, Kind>>> {
  const call = caller(address)
  const signIn = async (name: string) =>
    JSON.parse((await call('POST', '/v2/tokens', { body: { username: `${name}@example.com`, password } })).text).data.accessToken as string
  const [customer, staff] = [await signIn('ada'), await signIn('ops')]
  const list = async (path: string, token: string) => JSON.parse((await call('GET', path, { token })).text)
  const { data: products } = await list('/v2/products?perPage=100', staff)
  const product = products[0].id as string
  await call('PATCH', `/v2/products/${product}`, {
    token: staff,
    body: { unitsInStock: 1_000_000, discontinued: false },
    headers: { 'if-match': '*' }
  })
  const page = await list('/v2/orders?perPage=1', customer)
  const order = page.data[0].id as string
  const next = new URL(page._links.find(({ rel }: { rel: string }) => rel === 'next').href as string).searchParams.get('after') as string
  const post =
    (path: string, token: string | undefined, raw: string | Buffer, headers = {}): Call =>
    () =>
      call('POST', path, { token, raw, headers: { 'idempotency-key': randomUUID(), ...headers } })
  const get =
    (path: string, headers = {}, token = customer): Call =>
    () =>
      call('GET', path, { token, headers })
  const withBodies = (path: string, token: string | undefined, member: string, longText: (of: string) => string) =>
    Object.fromEntries(Object.entries(bodies(member, longText)).map(([name, raw]) => [name, post(path, token, raw)]))
  const items = (length: number) => `"items":${filled(length, `{"productId":"${product}","quantity":1}`)}`
  const images = `/v2/products/${product}/images`
  const company = '"companyName":"Corner Deli","contactName":"Ada Moreno","email":"ada@example.com","country":"Spain"'
  const subscription = '"url":"https://hooks.example.com/orders","eventTypes":["order.created"]'
  return {
    'POST /v2/tokens': {
      ordinary: post('/v2/tokens', undefined, JSON.stringify({ username: 'ada@example.com', password })),
      shapes: withBodies('/v2/tokens', undefined, `"username":"ada@example.com"`, text('username'))
    },
    'POST /v2/orders': {
      ordinary: post('/v2/orders', customer, `{${items(1)}}`),
      shapes: {
        ...withBodies('/v2/orders', customer, items(1), text('note')),
        '15,000 items': post('/v2/orders', customer, `{${items(15_000)}}`)
      }
    },
    'POST /v2/orders, 100 items': {
      ordinary: post('/v2/orders', customer, `{${items(100)}}`),
      shapes: {
        '100 invalid items': post('/v2/orders', customer, `{"items":${filled(100, '{"productId":1,"quantity":"x","a":1,"b":2}')}}`)
      }
    },
    'PATCH /v2/orders/{id}': {
      ordinary: () => call('PATCH', `/v2/orders/${order}`, { token: staff, body: { note: 'Ring twice.' }, headers: { 'if-match': '*' } }),
      shapes: Object.fromEntries(
        Object.entries(bodies('"note":"x"', text('note'))).map(([name, raw]) => [
          name,
          () => call('PATCH', `/v2/orders/${order}`, { token: staff, raw, headers: { 'if-match': '*' } })
        ])
      )
    },
    'POST /v2/customers': {
      ordinary: post('/v2/customers', staff, `{${company}}`),
      shapes: withBodies('/v2/customers', staff, company, text('companyName'))
    },
    'POST /v2/token-revocations': {
      ordinary: post('/v2/token-revocations', customer, JSON.stringify({ token: 'rt_x' })),
      shapes: withBodies('/v2/token-revocations', customer, '"token":"rt_x"', text('token'))
    },
    'POST /v2/webhook-subscriptions': {
      ordinary: post('/v2/webhook-subscriptions', customer, `{${subscription}}`),
      most: 20,
      shapes: withBodies('/v2/webhook-subscriptions', customer, subscription, text('url'))
    },
    'POST /v2/order-exports': {
      ordinary: post('/v2/order-exports', staff, '{}'),
      shapes: withBodies('/v2/order-exports', staff, '"status":"paid"', text('status'))
    },
    'POST /v2/order-batches, 1 operation': {
      ordinary: post('/v2/order-batches', customer, operations(1, { method: 'GET', path: `/v2/orders/${order}` })),
      shapes: withBodies('/v2/order-batches', customer, '"operations":[]', text('operations'))
    },
    'POST /v2/order-batches, 100 operations': {
      ordinary: post('/v2/order-batches', customer, operations(100, { method: 'GET', path: `/v2/orders/${order}` })),
      shapes: {
        '100 pages of 100': post('/v2/order-batches', staff, operations(100, { method: 'GET', path: '/v2/orders?perPage=100' })),
        '100 invalid operations': post('/v2/order-batches', customer, operations(100, { method: 'FOO', path: '//', headers: { a: 1 } })),
        '100 bodies of 90 unknown members': post(
          '/v2/order-batches',
          customer,
          operations(100, { method: 'POST', path: '/v2/orders', body: JSON.parse(wide(90)) })
        )
      }
    },
    'POST /v2/products/{id}/images': {
      ordinary: post(images, staff, pngOf(10_000), { 'content-type': 'image/png' }),
      shapes: {
        '1 MiB': post(images, staff, pngOf(1_048_576), { 'content-type': 'image/png' }),
        '1 MiB of letters': post(images, staff, Buffer.alloc(1_048_576, 65), { 'content-type': 'image/png' })
      }
    },
    'GET /v2/orders': {
      ordinary: get('/v2/orders?perPage=20'),
      shapes: {
        '700 unknown parameters': get(`/v2/orders?${Array.from({ length: 700 }, (_, at) => `a${at}=b`).join('&')}`),
        'a filter with 700 values': get(`/v2/orders?status[in]=${Array.from({ length: 700 }, () => 'pending').join()}`),
        '20 conditions': get(`/v2/orders?perPage=20&${Array.from({ length: 20 }, (_, at) => `total[gt]=${at}`).join('&')}`),
        'a sort of 400 keys': get(`/v2/orders?sort=${Array.from({ length: 400 }, () => 'placedAt').join()}`),
        '900 fields': get(`/v2/orders?perPage=20&fields=${Array.from({ length: 900 }, () => 'id').join()}`),
        '900 different fields': get(`/v2/orders?fields=${Array.from({ length: 900 }, (_, at) => `f${at}`).join()}`),
        'a cursor of 8 KB': get(`/v2/orders?after=${'A'.repeat(7900)}`),
        'a changed cursor': get(`/v2/orders?after=${next.slice(0, -2)}AA`),
        'Accept of 14 KB': get('/v2/orders?perPage=20', { accept: Array.from({ length: 1200 }, (_, at) => `a/b${at};q=0.1`).join() }),
        'If-None-Match of 14 KB': get('/v2/orders?perPage=20', {
          'if-none-match': Array.from({ length: 1500 }, (_, at) => `"t${at}"`).join()
        }),
        'a token of 14 KB': () => call('GET', '/v2/orders', { token: `e30.${'A'.repeat(14_000)}.x` })
      }
    },
    'GET /v2/orders, 100 of them': {
      ordinary: get('/v2/orders?perPage=100', {}, staff),
      shapes: { 'with Brotli': get('/v2/orders?perPage=100', { 'accept-encoding': 'br' }, staff) }
    },
    'GET /v2/orders/{id}': {
      ordinary: get(`/v2/orders/${order}`),
      shapes: {
        'a path of 8 KB': get(`/v2/orders/${'%25'.repeat(2600)}`),
        'If-None-Match of 14 KB': get(`/v2/orders/${order}`, {
          'if-none-match': Array.from({ length: 1500 }, (_, at) => `"t${at}"`).join()
        })
      }
    }
  }
}

/** Measures what a client waits, alone and beside another at its limits, in turns, so that other work on the machine changes both. */
async function measureOthers(databaseUrl: string) {
  const { child, address } = await startService(folder, { DATABASE_URL: databaseUrl, SEED_ORDERS: '0' })
  try {
    const call = caller(address)
    const signIn = async (name: string) =>
      JSON.parse((await call('POST', '/v2/tokens', { body: { username: `${name}@example.com`, password } })).text).data
        .accessToken as string
    const [hostile, other] = [await signIn('ada'), await signIn('max')]
    const rows: string[] = []
    for (const [name, raw] of Object.entries({
      'a body of 850 KB with 80,000 members': wide(80_000),
      'a body of 9 KB with 900 unknown members': wide(900),
      'a text of 60 KB': JSON.stringify({ note: 'x'.repeat(60_000) }),
      'a batch with 4,900 members': `{"operations":${wide(4900)}}`
    })) {
      const path = name.includes('batch') ? '/v2/order-batches' : '/v2/orders'
      const times = { alone: [] as number[], beside: [] as number[] }
      const statuses = new Map<number, number>()
      for (let turn = 0; turn < 12; turn += 1) {
        const isBeside = turn % 2 === 1
        const attacker = isBeside
          ? new Worker(new URL(import.meta.url), { workerData: { address, path, token: hostile, raw } satisfies Attack })
          : undefined
        if (attacker !== undefined) await once(attacker, 'online')
        const end = performance.now() + 2500
        while (performance.now() < end) {
          const { status, ms } = await call('GET', '/v2/orders?perPage=5', { token: other })
          if (status !== 200) throw new Error(`The other client got ${status}.`)
          times[isBeside ? 'beside' : 'alone'].push(ms)
          await delay(110)
        }
        if (attacker === undefined) continue
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- of a worker, not of a window
        attacker.postMessage('end')
        const [found] = (await once(attacker, 'message')) as [Map<number, number>]
        for (const [status, count] of found) statuses.set(status, (statuses.get(status) ?? 0) + count)
      }
      const sent = [...statuses].map(([status, count]) => `${count} × ${status}`).join(', ')
      rows.push(`| ${name} | ${sent} | ${summary(times.alone)} | ${summary(times.beside)} |`)
      console.log(rows.at(-1))
    }
    const head = [
      '| one client sends, six at a time | responses in 15 s | another alone: p50, p99 | beside it |',
      '| --- | --- | --- | --- |'
    ]
    return `\n${[...head, ...rows].join('\n')}\n`
  } finally {
    child.kill('SIGKILL')
  }
}

/** Sends a request six at a time, from a thread and an address of its own, and waits when a limit refuses it. */
async function attack({ address, path, token, raw }: Attack) {
  const call = caller(address, '127.0.0.2')
  const statuses = new Map<number, number>()
  const end = new AbortController()
  parentPort?.once('message', () => end.abort())
  const body = Buffer.from(raw)
  const sendAll = async () => {
    while (!end.signal.aborted) {
      const { status } = await call('POST', path, { token, raw: body, headers: { 'idempotency-key': randomUUID() } })
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      if (status === 429) await delay(250)
    }
  }
  await Promise.all(Array.from({ length: 6 }, sendAll))
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- of a worker, not of a window
  parentPort?.postMessage(statuses)
}

function summary(times: readonly number[]) {
  const sorted = times.toSorted((one, other) => one - other)
  return [0.5, 0.99].map((part) => `${sorted[Math.floor(part * (sorted.length - 1))]?.toFixed(0)} ms`).join(', ')
}

function caller(address: string, localAddress = '127.0.0.1') {
  return async (method: string, path: string, { token, headers = {}, raw, body }: Input = {}): Promise<Response> => {
    const { promise, resolve, reject } = Promise.withResolvers<Response>()
    const data = raw ?? (body === undefined ? undefined : JSON.stringify(body))
    const fields = {
      ...(data !== undefined && { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(data)) }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...headers
    }
    const began = performance.now()
    const sent = send(new URL(path, address), { method, headers: fields, agent, localAddress }, (response) => {
      const parts: Buffer[] = []
      response.on('data', (part: Buffer) => parts.push(part))
      response.on('end', () =>
        resolve({ status: response.statusCode as number, text: Buffer.concat(parts).toString(), ms: performance.now() - began })
      )
      response.on('error', reject)
    })
    // A body that is refused before it has arrived: the connection is closed.
    sent.on('error', () => resolve({ status: 0, text: '', ms: performance.now() - began }))
    sent.end(data)
    return promise
  }
}

function today() {
  return new Date().toISOString().slice(0, 10)
}

function load() {
  return loadavg()[0]?.toFixed(0)
}

function writeBetween(name: string, text: string) {
  const [start, end] = [`<!-- ${name}:start -->`, `<!-- ${name}:end -->`]
  const before = readFileSync(document, 'utf8')
  const [head = '', rest = ''] = before.split(start)
  writeFileSync(document, `${head}${start}\n${text}${end}${rest.split(end)[1]}`)
}
