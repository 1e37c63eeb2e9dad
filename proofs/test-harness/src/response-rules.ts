// The rules of every response, checked on what a service returned. The ids are those of the interface specification.
import { randomUUID } from 'node:crypto'
import type { Test } from 'tap'
import { type Exchange, nameOf, pathOf } from './exchanges.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- any resource
type Loose = any

/** What is the service's own. */
export interface OwnRules {
  /** The relations of links that name a resource or an action of the service. */
  readonly relations: readonly string[]
  /** Whether the user who sent the requests may not read a path. */
  readonly isForbidden?: (path: string) => boolean
}

// https://www.iana.org/assignments/link-relations: those that an API of resources uses.
const registered =
  `alternate collection describedby edit first help item last latest-version next predecessor-version prev related search self
  service-desc service-doc service-meta status successor-version up version-history`.split(/\s+/)
const directives = ['public', 'private', 'no-cache', 'no-store', 'max-age', 's-maxage', 'must-revalidate']

/** Returns every value in a body with its path. */
export function valuesIn(value: Loose, path = ''): { readonly path: string; readonly value: Loose }[] {
  const inner = typeof value === 'object' && value !== null ? Object.entries(value) : []
  return [{ path, value }, ...inner.flatMap(([name, one]) => valuesIn(one, `${path}/${name}`))]
}

/** Returns the responses of versions, without descriptions. */
export function versionedOf(exchanges: readonly Exchange[]): Exchange[] {
  return exchanges.filter(({ path }) => /^\/v\d+(\/(?!openapi)|$)/.test(path))
}

/** Returns the successful responses of versions that have a body. */
export function successesOf(exchanges: readonly Exchange[]): Exchange[] {
  return versionedOf(exchanges).filter(({ status, body }) => status < 300 && body !== undefined)
}

/** Adds a test for each rule of responses. */
export function testResponses(t: Test, exchanges: readonly Exchange[], { relations, isForbidden = () => false }: OwnRules): void {
  const resources = exchanges.filter(({ body, path }) => body !== undefined && !path.endsWith('/openapi'))
  const [versioned, successes] = [versionedOf(exchanges), successesOf(exchanges)]

  void t.test('enough kinds of operations were sent', async (t) => {
    for (const method of ['DELETE', 'GET', 'PATCH', 'POST'])
      t.ok(
        exchanges.some((one) => one.method === method),
        method
      )
    for (const status of [200, 201, 202, 204, 304])
      t.ok(
        versioned.some((one) => one.status === status),
        `a ${status}`
      )
  })

  void t.test('every success is in the envelope, with the version that responded [S5] [S9] [E1] [M1] [V8]', async (t) => {
    for (const exchange of successes) {
      const { path, body } = exchange
      t.strictSame(Object.keys(body), ['data', '_links', '_meta'], nameOf(exchange))
      t.type(body.data, 'object', nameOf(exchange))
      t.match(body._meta, { version: path.split(/[/?]/)[1], timestamp: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/ }, nameOf(exchange))
    }
  })

  void t.test('every body has links of one form, and one to itself [S5] [K1] [K2] [K3] [K5]', async (t) => {
    const malformed: string[] = []
    for (const exchange of resources) {
      const { method, path, body } = exchange
      const [self] = body._links
      t.equal(self.rel, 'self', nameOf(exchange))
      const location = exchange.headers.get('location')
      const targets = [`${method} ${path}`, ...(location === null ? [] : [`GET ${pathOf(location)}`])]
      t.ok(targets.includes(`${self.method} ${pathOf(self.href)}`), nameOf(exchange))
      for (const { path: place, value } of valuesIn(body))
        if (place.endsWith('/_links'))
          for (const link of value) {
            const { rel, href, method: use, ...others } = link
            const isWhole = /^[a-z][a-z-]*$/.test(rel) && /^https?:\/\/[^/]+\//.test(href) && /^[A-Z]+$/.test(use)
            if (!isWhole || Object.keys(others).length > 0) malformed.push(`${nameOf(exchange)} ${place}`)
          }
    }
    t.strictSame(malformed, [])
  })

  void t.test('a link has a registered relation, unless it names a resource or an action of the service [K4]', async (t) => {
    const links = resources.flatMap(({ body }) => valuesIn(body).flatMap(({ path, value }) => (path.endsWith('_links') ? value : [])))
    const found = [...new Set<string>(links.map(({ rel }: Loose) => rel))]
    const own = found.filter((relation) => !registered.includes(relation))
    t.strictSame(
      own.filter((relation) => !relations.includes(relation)),
      []
    )
    t.ok(found.length - own.length >= 4, found.join(' '))
  })

  void t.test('every time is ISO 8601 in UTC, and an absent value has no member [F2] [F3]', async (t) => {
    const values = successes.flatMap((exchange) =>
      valuesIn(exchange.body).map(({ path, value }) => ({ place: `${nameOf(exchange)} ${path}`, value }))
    )
    t.strictSame(
      values.filter(({ value }) => value === null),
      []
    )
    const times = values.filter(({ place }) => /(?:At|timestamp)$/.test(place))
    t.ok(times.length >= successes.length)
    t.strictSame(
      times.filter(({ value }) => !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value)),
      []
    )
  })

  void t.test('every response has a Request-Id of its own, a repeated one too [H2]', async (t) => {
    const ids = exchanges.map(({ headers }) => headers.get('request-id'))
    t.notOk(ids.includes(null))
    t.equal(new Set(ids).size, ids.length)
    t.ok(exchanges.some(({ headers }) => headers.get('idempotency-replayed') === 'true'))
  })

  void t.test('every response says how it may be cached, and only responses to reads may be [S8] [C2] [C5]', async (t) => {
    for (const exchange of versioned) {
      const { method, status, headers } = exchange
      const policy = (headers.get('cache-control') ?? '').split(/ *, */)
      const names = policy.map((one) => one.replace(/=\d+$/, ''))
      if (status !== 204) t.notSame(policy, [''], nameOf(exchange))
      t.strictSame(
        names.filter((name) => name !== '' && !directives.includes(name)),
        [],
        nameOf(exchange)
      )
      if (method !== 'GET' && status !== 204) t.strictSame(policy, ['no-store'], nameOf(exchange))
      if (method === 'GET' && status === 200 && !names.includes('no-store')) t.ok(headers.has('etag'), nameOf(exchange))
    }
  })

  void t.test('every status code is one of those that the interface defines, and every creation has its address [X4]', async (t) => {
    for (const exchange of versioned) {
      const { method, path, status, headers, text } = exchange
      t.ok(isForbidden(path) ? status === 403 : [200, 201, 202, 204, 304, 404].includes(status), nameOf(exchange))
      if (status === 201 || status === 202) t.match(headers.get('location'), /^http/, nameOf(exchange))
      if (status === 204 || status === 304) t.equal(text, '', nameOf(exchange))
      if (status === 201 || status === 202) t.equal(method, 'POST')
    }
  })

  void t.test('no browser can run, frame or guess the type of a response, and none begins a session [S2] [U11] [U13]', async (t) => {
    for (const exchange of exchanges) {
      const { headers } = exchange
      t.equal(headers.get('x-content-type-options'), 'nosniff', nameOf(exchange))
      t.match(headers.get('content-security-policy'), /default-src 'none'.*frame-ancestors 'none'/, nameOf(exchange))
      t.equal(headers.get('x-frame-options'), 'DENY', nameOf(exchange))
      t.notMatch(headers.get('content-type') ?? '', /html/, nameOf(exchange))
      t.notOk(headers.has('set-cookie'), nameOf(exchange))
    }
  })
}

/** Adds a test of OPTIONS on every path of a description. */
export function testOptions(t: Test, service: string, paths: Readonly<Record<string, object>>): void {
  void t.test('OPTIONS lists the methods of each operation, and HEAD [M8]', async (t) => {
    for (const [template, operations] of Object.entries(paths)) {
      const { status, headers } = await fetch(service + template.replaceAll(/\{\w+\}/g, randomUUID()), { method: 'OPTIONS' })
      const methods = Object.keys(operations).map((method) => method.toUpperCase())
      const expected = [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].toSorted()
      t.strictSame([status, (headers.get('allow') ?? '').split(', ').toSorted()], [204, expected], template)
    }
  })
}
