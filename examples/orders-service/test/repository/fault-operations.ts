import { randomUUID } from 'node:crypto'
import { until } from '@concordat/test-harness/until'
import { password } from '../service.ts'
import type { Received, ServiceProcess, Station } from './fault-station.ts'

/** An operation that a client repeats until it succeeds, and that may leave work to the queue. */
export interface Operation {
  readonly name: string
  begin(place: Place): Promise<Run>
}

/** A station, its service and the tokens of its users. */
export interface Place {
  readonly station: Station
  /** The process that serves at present. */
  readonly service: () => ServiceProcess
  readonly authorization: Readonly<Record<'ada@example.com' | 'ops@example.com', string>>
}

/** One use of an operation. */
export interface Run {
  /** Sends the request. A retry is exactly the same request. */
  attempt(service: ServiceProcess): Promise<Received | undefined>
  /** Returns what all successful responses have in common, or undefined for a response that asks for a retry. */
  resultOf(received: Received): unknown
  /** Checks the effects, when nothing is left in the queue. Returns what is wrong. */
  problems(service: ServiceProcess, result: unknown): Promise<string[]>
}

const productId = '0191106c-03c0-76ff-b1de-b7ec6c68a6a1'

/** Creates what the operations need in the database of a station: stock, and two subscriptions to events. */
export async function furnish({ station, authorization }: Place, service: ServiceProcess): Promise<void> {
  await station.sql.query('UPDATE products SET units_in_stock = 1000000 WHERE id = $1', [productId])
  for (const ordered of [false, true]) {
    const subscription = { url: station.receiverUrl, eventTypes: ['order.created'], ordered }
    const headers = { authorization: authorization['ada@example.com'], 'idempotency-key': randomUUID() }
    const created = await service.send('POST', '/v1/webhook-subscriptions', subscription, headers)
    if (created?.status !== 201) throw new Error(`The subscription was refused: ${JSON.stringify(created)}`)
  }
}

/** Signs in, and returns the header with the token. Returns undefined if the service asks for a retry. */
export async function signIn(service: ServiceProcess, username: string): Promise<string | undefined> {
  const received = await service.send('POST', '/v1/tokens', { username, password })
  if (received?.status === 503) return undefined
  if (received?.status !== 200) throw new Error(`${username} cannot sign in: ${JSON.stringify(received)}`)
  return `Bearer ${received.body.data.accessToken}`
}

const newOrder = (note: string) => ({ items: [{ productId, quantity: 1 }], note })

async function numberFrom({ sql }: Station, text: string, values: readonly unknown[] = []) {
  const { rows } = await sql.query<{ value: string }>(text, [...values])
  return Number(rows[0]?.value)
}

const stockOf = (station: Station) => numberFrom(station, 'SELECT units_in_stock AS value FROM products WHERE id = $1', [productId])

/** Counts the effects of orders that were to be placed once each, with these notes. */
async function orderProblems(station: Station, ids: readonly string[], notes: readonly string[], stockBefore: number) {
  const problems: string[] = []
  const expect = (what: string, actual: unknown, expected: unknown) => {
    if (JSON.stringify(actual) !== JSON.stringify(expected))
      problems.push(`${what}: ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`)
  }
  const { rows } = await station.sql.query<{ id: string; items: string }>(
    'SELECT id, (SELECT count(*) FROM order_items WHERE order_id = orders.id) AS items FROM orders WHERE note = ANY($1)',
    [notes]
  )
  expect('orders', rows.map(({ id }) => id).toSorted(), [...ids].toSorted())
  expect('items of each order', [...new Set(rows.map(({ items }) => Number(items)))], [1])
  expect('units taken from stock', stockBefore - (await stockOf(station)), notes.length)
  for (const { id } of rows) {
    const events = await station.sql.query<{ message: string; deliveries: string }>(
      `SELECT message_id AS message, concat_ws(' ', count(*), count(DISTINCT subscription_id), string_agg(DISTINCT d.status, ' ')) AS deliveries
       FROM concordat.webhook_messages m JOIN concordat.webhook_deliveries d ON d.message_id = m.id
       WHERE m.bodies[1] LIKE '%' || $1 || '%' GROUP BY message_id`,
      [id]
    )
    expect(
      'deliveries, their subscriptions and status, of each event',
      events.rows.map(({ deliveries }) => deliveries),
      ['2 2 delivered']
    )
    const received = station.receiver.attempts.filter(({ event }) => event.data.id === id)
    expect(
      'webhook-ids of the event',
      [...new Set(received.map((attempt) => attempt.id))],
      events.rows.map(({ message }) => message)
    )
    if (received.length < 2) problems.push(`${received.length} attempts arrived`)
  }
  return problems
}

/** Places an order, and delivers its event. */
const order: Operation = {
  name: 'order and deliveries',
  async begin({ station, authorization }) {
    const note = randomUUID()
    const stockBefore = await stockOf(station)
    const headers = { authorization: authorization['ada@example.com'], 'idempotency-key': note }
    return {
      attempt: (service) => service.send('POST', '/v1/orders', newOrder(note), headers),
      resultOf: ({ status, body }) => (status === 201 ? body.data.id : undefined),
      problems: (_service, id) => orderProblems(station, [String(id)], [note], stockBefore)
    }
  }
}

/** Places two orders in a batch. */
function batch(atomic: boolean): Operation {
  return {
    name: atomic ? 'atomic batch' : 'batch',
    async begin({ station, authorization }) {
      const notes = [randomUUID(), randomUUID()]
      const stockBefore = await stockOf(station)
      const operations = notes.map((note, index) => ({ id: `${index}`, method: 'POST', path: '/v1/orders', body: newOrder(note) }))
      const headers = { authorization: authorization['ada@example.com'], 'idempotency-key': randomUUID() }
      return {
        attempt: (service) => service.send('POST', '/v1/order-batches', { operations, atomic }, headers),
        resultOf({ status, body }) {
          if (status !== 200) return undefined
          const results = body.data as { status: number; body?: { data: { id: string } } }[]
          return results.every((one) => one.status === 201) ? results.map((one) => one.body?.data.id) : undefined
        },
        problems: (_service, ids) => orderProblems(station, ids as string[], notes, stockBefore)
      }
    }
  }
}

/** Exports orders that no other operation changes. */
const orderExport: Operation = {
  name: 'export',
  async begin({ station, authorization }) {
    const headers = { authorization: authorization['ops@example.com'] }
    const jobs = () => numberFrom(station, 'SELECT count(*) AS value FROM concordat.jobs')
    const before = await jobs()
    const key = randomUUID()
    return {
      attempt: (service) => service.send('POST', '/v1/order-exports', { status: 'shipped' }, { ...headers, 'idempotency-key': key }),
      resultOf: ({ status, body }) => (status === 202 ? body.data.jobId : undefined),
      async problems(service, id) {
        const problems: string[] = []
        const created = (await jobs()) - before
        if (created !== 1) problems.push(`${created} jobs`)
        let record: Received | undefined
        // A process that was stopped does not know the revocations of that time yet, and responds with 503 until it does.
        await until(async () => {
          record = await service.send('GET', `/v1/order-exports/${String(id)}`, undefined, headers)
          return record?.status === 200
        })
        const { status, _links: links } = record?.body.data ?? {}
        if (status !== 'completed') return [...problems, `the export is ${status}`]
        const file = await service.send('GET', new URL(links[1].href).pathname, undefined, headers)
        const exported = ((file?.body.data ?? []) as { id: string }[]).map((row) => row.id).toSorted()
        const { rows } = await station.sql.query<{ id: string }>(`SELECT id FROM orders WHERE status = 'shipped' ORDER BY id`)
        const expected = rows.map((row) => row.id)
        if (JSON.stringify(exported) !== JSON.stringify(expected)) problems.push(`${exported.length} orders instead of ${expected.length}`)
        return problems
      }
    }
  }
}

/** Checks that the tokens of a response work. */
async function tokenProblems(service: ServiceProcess, { accessToken, refreshToken }: { accessToken: string; refreshToken: string }) {
  const orders = await service.send('GET', '/v1/orders?perPage=1', undefined, { authorization: `Bearer ${accessToken}` })
  const refreshed = await service.send('POST', '/v1/tokens', { refreshToken })
  return [
    ...(orders?.status === 200 ? [] : [`the access token: ${JSON.stringify(orders)}`]),
    ...(refreshed?.status === 200 ? [] : [`the refresh token: ${JSON.stringify(refreshed)}`])
  ]
}

/** Signs in with a password. */
const passwordSignIn: Operation = {
  name: 'sign-in',
  async begin() {
    return {
      attempt: (service) => service.send('POST', '/v1/tokens', { username: 'max@example.com', password }),
      resultOf: ({ status, body }) => (status === 200 ? body.data : undefined),
      problems: (service, tokens) => tokenProblems(service, tokens as { accessToken: string; refreshToken: string })
    }
  }
}

// The grace period of token-issuing: a token that is sent again later than this counts as stolen.
const reuseGraceMs = 10_000

/** Uses a refresh token, which can be used once. */
const refresh: Operation = {
  name: 'refresh',
  async begin({ service }) {
    const signedIn = await service().send('POST', '/v1/tokens', { username: 'max@example.com', password })
    const { refreshToken } = signedIn?.body.data ?? {}
    const since = performance.now()
    return {
      attempt: (one) => one.send('POST', '/v1/tokens', { refreshToken }),
      resultOf({ status, body }) {
        if (status === 401 && performance.now() - since > reuseGraceMs) return 'signed out'
        return status === 200 ? body.data : undefined
      },
      async problems(one, result) {
        if (result !== 'signed out') return tokenProblems(one, result as { accessToken: string; refreshToken: string })
        const again = await one.send('POST', '/v1/tokens', { username: 'max@example.com', password })
        return tokenProblems(one, again?.body.data)
      }
    }
  }
}

/** The operations whose round trips are faulted. */
export const operations: readonly Operation[] = [order, batch(true), batch(false), orderExport, passwordSignIn, refresh]
