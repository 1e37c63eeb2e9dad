// A process of request-counts.test.ts: node request-counts-process.ts <file of a benchmark's server> <its options as JSON>. It prints what each kind
// of request needs. A process of its own, because what a test runner follows is kept by it.
import { randomUUID } from 'node:crypto'
import { Agent, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  countCallsOfPackages,
  countPromises,
  countRequests,
  countSentBytes,
  measureMemory,
  type RequestCounts,
  type RequestMemory
} from '@concordat/test-harness/request-counts'
import type { FastifyInstance } from 'fastify'
import { password } from '../service.ts'

/** What a request needs. */
export interface Needs extends RequestCounts, Partial<RequestMemory> {
  readonly status: number
  /** Promises, and bytes that are sent to the database, of a server with one. */
  readonly promises?: number
  readonly sentBytes?: number
  /** How many functions of the packages it calls. With a database, this depends on the pieces in which the bytes of its responses arrive. */
  readonly calls?: number
}

interface Sent {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

interface Served {
  readonly app: FastifyInstance
  readonly headers?: Readonly<Record<string, string>>
  readonly close?: () => Promise<void>
}

const [file = '', options = '{}'] = process.argv.slice(2)
const counted = countRequests()
const { databaseUrl } = JSON.parse(options) as { readonly databaseUrl?: string }
const sentBytes = databaseUrl === undefined ? undefined : countSentBytes(Number(new URL(databaseUrl).port || 5432))
const { serve } = (await import(file)) as { serve: (options: Record<string, string>) => Promise<Served> }
const { app, headers: given, close = () => app.close() } = await serve(JSON.parse(options))
await app.listen({ host: '127.0.0.1', port: 0 })
const { port } = app.server.address() as AddressInfo
const agent = new Agent({ keepAlive: true })
const credentials = given ?? (await signIn())
const found: Record<string, Needs> = {}
const isInMemory = options === '{}'
const made = await kinds()
for (const [name, make] of Object.entries(made)) {
  // What only the first request of a kind does.
  await inject(make())
  counted()
  const { statusCode } = await inject(make())
  const counts = { status: statusCode, ...counted() }
  const memory = statusCode < 400 ? await measureMemory(() => send(make())) : {}
  const postgres = sentBytes && {
    ...(await countPromises(() => send(make()))),
    sentBytes: await sentBytes(() => send(make()))
  }
  found[name] = { ...counts, ...postgres, ...memory }
}
// After the memory of all, which the coverage would change.
for (const [name, make] of isInMemory ? Object.entries(made) : []) {
  const calls = await countCallsOfPackages(() => send(make()))
  found[name] = { ...(found[name] as Needs), calls }
}
process.stdout.write(JSON.stringify(found))
agent.destroy()
await close()

async function signIn() {
  const payload = { username: 'ada@example.com', password }
  const { data } = (await app.inject({ method: 'POST', url: '/v1/tokens', payload })).json()
  return { authorization: `Bearer ${data.accessToken}` }
}

function get(path: string, more: Readonly<Record<string, string>> = {}): Sent {
  return { method: 'GET', path, headers: { ...credentials, ...more } }
}

async function kinds(): Promise<Record<string, () => Sent>> {
  const item = '/v1/products/01937f6e-0000-7000-8000-000000000001'
  const etag = String((await inject(get(item))).headers['etag'])
  const body = JSON.stringify({ customer: 'ada', items: [{ productId: item.slice(-36), quantity: 1 }] })
  const post = (key: string, sent = body): Sent => {
    return {
      method: 'POST',
      path: '/v1/orders',
      headers: { ...credentials, 'content-type': 'application/json', 'idempotency-key': key },
      body: sent
    }
  }
  const stored = randomUUID()
  return {
    item: () => get(item),
    collection: () => get('/v1/products'),
    'item, 304': () => get(item, { 'if-none-match': etag }),
    ...(isInMemory && {
      'unknown item, 404': () => get(`${item.slice(0, -3)}999`),
      'invalid order, 422': () => post(randomUUID(), body.replace('1}]', '"one"}]'))
    }),
    'order with a key': () => post(randomUUID()),
    replay: () => post(stored)
  }
}

// What the client of a connection calls would count too.
function inject({ method, path, headers, body }: Sent) {
  return app.inject({ method, url: path, headers, ...(body !== undefined && { payload: body }) })
}

// An injected request is kept by its client.
function send({ body, ...sent }: Sent) {
  return new Promise<void>((resolve, reject) => {
    const outgoing = request({ ...sent, agent, host: '127.0.0.1', port }, (response) => void response.resume().on('end', resolve))
    outgoing.on('error', reject).end(body)
  })
}
