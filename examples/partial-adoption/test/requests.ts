import { type AddressInfo, connect } from 'node:net'
import type { FastifyInstance, InjectOptions } from 'fastify'

/** A request of the comparison, by name. */
export interface Request extends InjectOptions {
  readonly name: string
  readonly area: string
  readonly url: string
}

/** A response without what differs each time. */
export interface Response {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: string
}

const json = { 'content-type': 'application/json' }
const valid = { name: 'tea', amount: 5 }

/** Returns requests of every kind to the routes below a path. */
export function requestsTo(area: string): Request[] {
  const post = (name: string, payload: string | object, headers: InjectOptions['headers'] = json) => ({
    name,
    area,
    method: 'POST' as const,
    url: area,
    payload,
    headers
  })
  const get = (name: string, url: string, headers: InjectOptions['headers'] = {}) => ({ name, area, url, headers })
  return [
    get('list', area),
    get('item', `${area}/1`),
    get('missing item', `${area}/999`),
    get('invalid path parameter', `${area}/abc`),
    get('thrown error', `${area}/failing`),
    get('unknown path', `${area}/1/unknown`),
    get('unknown path beside', area.replace(/\w+$/, 'unknown')),
    get('malformed URL', `${area}/%zz`),
    get('trailing slash', `${area}/`),
    get('long path parameter', `${area}/${'1'.repeat(150)}`),
    get('unknown query', `${area}?color=red`),
    get('unacceptable media type', `${area}/1`, { accept: 'text/csv' }),
    get('conditional read', `${area}/1`, { 'if-none-match': '*' }),
    get('unknown token', `${area}/1`, { authorization: 'Bearer unknown' }),
    { ...get('conditional change', `${area}/1`, { ...json, 'if-match': '"7"' }), method: 'PATCH', payload: { name: 'tea' } },
    { ...get('head', area), method: 'HEAD' },
    { ...get('head of a missing item', `${area}/999`), method: 'HEAD' },
    { ...get('options', area), method: 'OPTIONS' },
    { ...get('unsupported method', area), method: 'DELETE' },
    post('creation', valid),
    post('refused creation', { name: 'tea', amount: 5000 }),
    post('invalid body', { name: 'tea' }),
    post('coerced body with an unknown field', { name: 'tea', amount: '7', color: 'red' }),
    post('malformed JSON', '{"name":'),
    post('empty body', ''),
    post('too large body', { name: 'x'.repeat(2000), amount: 1 }),
    post('unsupported media type', 'name=tea', { 'content-type': 'text/csv' })
  ]
}

/** Returns a request and its retry, with a header that has no effect on routes without keys. */
export function requestsWithKeys(area: string): Request[] {
  const keyed = { name: 'creation with a key', area, method: 'POST' as const, url: area, payload: valid }
  return [1, 2].map(() => ({ ...keyed, headers: { ...json, 'idempotency-key': '"one"' } }))
}

/** Sends requests one after another, and returns the responses. */
export async function responsesOf(app: FastifyInstance, requests: readonly Request[]): Promise<Response[]> {
  const responses: Response[] = []
  for (const { name: _name, area: _area, ...request } of requests) {
    const { statusCode, headers, body } = await app.inject(request)
    const { date: _date, ...others } = headers
    responses.push({ status: statusCode, headers: others, body })
  }
  return responses
}

const host = ['Host: shop.example', 'Connection: close']

/** Requests that do not reach the hooks of Fastify, as lines. */
export const wireRequests: readonly (readonly string[])[] = [
  ['GET /v1/orders/1 HTTP/1.1', 'Connection: close'],
  ['GET /v2/orders/1 HTTP/1.1', ...host, 'Expect: something'],
  ['GET /v1/orders/1 HTTP/1.1', ...host, 'Host: other.example'],
  ['CONNECT shop.example:80 HTTP/1.1', ...host],
  ['not HTTP']
]

/** Sends lines to a service, and returns the bytes of its response without the date. */
export async function respondsTo(app: FastifyInstance, lines: readonly string[]): Promise<string> {
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  return Buffer.concat(await socket.toArray())
    .toString()
    .replace(/^date: .*\r\n/im, '')
}
