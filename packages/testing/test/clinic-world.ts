// A service with its database, and what its clients know of it: ids, links and tags.
import type { OpenDatabase } from '@concordat/postgres/open'
import { until } from '@concordat/test-harness/until'
import { type Actor, bearer, type ClinicService, tenants } from './clinic-service.ts'

/** A request as it is sent. */
export interface Sent {
  readonly method: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly body?: object | undefined
}

/** A response. */
export interface Got {
  readonly requestId: string
  /** The whole response, in which each value that differs from run to run has the number of its first appearance. */
  readonly shown: string
  /** The response as it was sent. */
  readonly text: string
}

const collections = new Set(['visits', 'scans', 'exports', 'webhook-subscriptions', 'deliveries'])
const addresses: Readonly<Record<Actor, string>> = { one: '192.0.2.1', other: '198.51.100.1' }
const volatile = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}|(?<=after=)[\w-]+|whsec_[\w+/=]+|(?<=etag[\\":]+(?:W\/[\\"]+)?)[\w-]{10,}/gi
const times = /202\d-\d\d-\d\dT[\d:.]+Z|\w{3}, \d\d \w{3} 202\d [\d:]+ GMT|(?<=;t=)\d+/g

export class ClinicWorld {
  readonly #pools = new Map<string, string[]>()
  readonly #numbers = new Map<string, string>()
  readonly #credentials = new Map<string, Readonly<Record<string, string>>>()
  readonly service: ClinicService
  readonly database: OpenDatabase

  constructor(service: ClinicService, database: OpenDatabase) {
    this.service = service
    this.database = database
  }

  /** What a tenant knows of a kind, in the order in which it got to know it. */
  pool(actor: Actor, name: string): readonly string[] {
    return this.#pools.get(`${actor} ${name}`) ?? []
  }

  /** Sends a request as the user or the client application of a tenant, and returns the response when the jobs that it started have ended or wait. */
  async send(actor: Actor, operation: string, sent: Sent, isApplication: boolean): Promise<Got> {
    const { method, path, headers, body } = sent
    const payload = body instanceof FormData ? copyOf(body) : body
    const response = await this.service.app.inject({
      method: method as 'GET',
      url: path,
      headers: {
        'x-forwarded-for': addresses[actor],
        'x-forwarded-proto': 'https',
        ...(await this.#credential(actor, isApplication)),
        ...headers
      },
      ...(payload !== undefined && { payload })
    })
    const { 'request-id': requestId, date: _date, ...others } = response.headers
    const text = JSON.stringify({ status: response.statusCode, headers: others, body: response.body })
    const isJson = /json/.test(String(others['content-type'])) && response.body !== ''
    if (response.statusCode < 400) this.#learn(actor, operation, path, others, isJson ? response.json() : {})
    if (operation === 'POST /v1/exports') await this.#settle(actor)
    const isRecorded =
      response.statusCode < 400 &&
      !/^(?:GET|HEAD)$/.test(method) &&
      others['idempotency-replayed'] === undefined &&
      operation !== 'POST /v1/batches'
    if (isRecorded) await this.#recorded(String(requestId))
    return { requestId: String(requestId), text, shown: actor === 'one' ? this.#shown(text) : '' }
  }

  async #credential(actor: Actor, isApplication: boolean) {
    const name = `${actor} ${isApplication}`
    const known =
      this.#credentials.get(name) ?? (isApplication ? await this.service.apiKeyOf(tenants[actor]) : bearer(tenants[actor], 'ada'))
    this.#credentials.set(name, known)
    return known
  }

  #learn(actor: Actor, operation: string, path: string, headers: object, body: { readonly data?: unknown; readonly _links?: unknown }) {
    const segments = (path.split('?')[0] as string).split('/').slice(2)
    const name = (segments.at(-1) ?? '').replace('managed-', '')
    if (collections.has(name))
      for (const { id, jobId } of [body.data ?? []].flat() as { id?: string; jobId?: string }[])
        this.#add(actor, name, name === 'deliveries' ? `${segments[1]}/deliveries/${id}` : (id ?? jobId))
    const links = Array.isArray(body._links) ? (body._links as { readonly rel: string; readonly href: string }[]) : []
    for (const { rel, href } of links)
      if (/^(?:first|last|next|prev)$/.test(rel)) this.#add(actor, `links of ${operation}`, href.slice(href.indexOf('/v1')))
    if ('etag' in headers) this.#add(actor, 'tags', String(headers.etag))
  }

  #add(actor: Actor, name: string, value: string | undefined) {
    const pool = this.#pools.get(`${actor} ${name}`) ?? []
    if (value !== undefined && !pool.includes(value)) pool.push(value)
    this.#pools.set(`${actor} ${name}`, pool)
  }

  #settle(actor: Actor) {
    const open = `SELECT count(*)::integer AS open FROM concordat.jobs
      WHERE tenant = $1 AND (state = 'queued' OR (state = 'processing' AND input ->> 'waits' = 'false'))`
    return until(async () => (await this.database.query<{ open: number }>(open, [tenants[actor]]))[0]?.open === 0)
  }

  // Without a transaction, a record is stored after the response.
  #recorded(requestId: string) {
    const record = 'SELECT FROM concordat.audit_records WHERE request_id = $1'
    return until(async () => (await this.database.query(record, [requestId])).length > 0)
  }

  #shown(text: string) {
    return text.replaceAll(times, 'TIME').replaceAll(volatile, (value) => {
      const number = this.#numbers.get(value) ?? `#${this.#numbers.size}`
      this.#numbers.set(value, number)
      return number
    })
  }

  /** Returns a text that changes with everything that a tenant has. */
  async stateOf(actor: Actor): Promise<string> {
    const tenant = tenants[actor]
    const [own] = await this.database.asTenant(tenant, (rows) =>
      rows.query<{ files: readonly string[] }>(
        `SELECT ${['patients', 'visits', 'scans'].map((table) => `${all(table)} AS ${table}`).join(', ')}, ARRAY(SELECT id::text FROM scans) AS files`
      )
    )
    const rest = [
      '(SELECT * FROM concordat.jobs WHERE tenant = $1)',
      '(SELECT * FROM concordat.webhook_subscriptions WHERE tenant = $1)',
      '(SELECT d.* FROM concordat.webhook_deliveries d JOIN concordat.webhook_subscriptions s ON s.id = d.subscription_id WHERE s.tenant = $1)',
      "(SELECT * FROM concordat.audit_records WHERE tenant = $1 AND outcome = 'committed')",
      '(SELECT file_id, position, md5(bytes) FROM concordat.file_chunks WHERE file_id = ANY ($2::uuid[]))'
    ]
    const [others] = await this.database.query(`SELECT ${rest.map((rows, index) => `${all(rows)} AS n${index}`).join(', ')}`, [
      tenant,
      own?.files ?? []
    ])
    return JSON.stringify([own, others])
  }
}

// A form is read once.
function copyOf(form: FormData) {
  const copy = new FormData()
  for (const [name, value] of form) copy.set(name, value)
  return copy
}

// Returns the hash of all rows.
function all(rows: string) {
  return `(SELECT md5(coalesce(string_agg(t::text, '|' ORDER BY t::text), '')) FROM ${rows} t)`
}
