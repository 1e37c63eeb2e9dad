import { randomUUID } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { describeOptions, flag, type OptionsOf, value } from '@concordat/plugin-kit/options'
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify'
import { atEndOf, type EndOfTest } from './cleanups.ts'
import { type Descriptions, descriptionsOf } from './described-responses.ts'

/** Headers by name. One that is `undefined` is not sent, for example a key that the client adds otherwise. */
type Headers = Readonly<Record<string, string | undefined>>
type Body = object | string

/** The description of {@link TestClientOptions}. @readme */
export const testClientOptions = describeOptions('testing', {
  /** Headers of every request, for example `{ 'accept-language': 'es' }`. */
  headers: value<Headers>({ default: {} }),
  /** Whether each response of a version is compared with the description of that version. */
  checkResponses: flag({ default: true })
})

/** Options of {@link testClient}. */
export interface TestClientOptions extends OptionsOf<typeof testClientOptions> {}

/** A response that was received. */
export interface ReceivedResponse {
  readonly status: number
  /** The headers by lower-case name. */
  readonly headers: Readonly<Record<string, string>>
  /** The value of a JSON body, otherwise `undefined`. */
  // oxlint-disable-next-line typescript/no-explicit-any -- the shape is what is being tested
  readonly body: any
  /** The body as text, for example CSV. */
  readonly text: string
  /** The body as it was sent. */
  readonly bytes: Buffer
}

/** Sends requests to a service in the process of the test. Every function rejects when the response differs from its description. */
export interface TestClient {
  /** Sends a request. An object is sent as JSON, and a `FormData` as multipart; a `Buffer` or a text needs the header `content-type`. */
  readonly request: (method: string, path: string, body?: Body, headers?: Headers) => Promise<ReceivedResponse>
  readonly get: (path: string, body?: Body, headers?: Headers) => Promise<ReceivedResponse>
  readonly post: (path: string, body?: Body, headers?: Headers) => Promise<ReceivedResponse>
  readonly put: (path: string, body?: Body, headers?: Headers) => Promise<ReceivedResponse>
  readonly patch: (path: string, body?: Body, headers?: Headers) => Promise<ReceivedResponse>
  readonly delete: (path: string, body?: Body, headers?: Headers) => Promise<ReceivedResponse>
  /**
   * Posts credentials, such as `{ username, password }`, and returns a client that sends the `accessToken` of the response. Rejects when the response
   * has none.
   */
  readonly signIn: (path: string, credentials: object) => Promise<TestClient>
  /** Does what `app.inject` does with these options, with nothing added, and checks the response. */
  readonly inject: (options: string | InjectOptions) => Promise<LightMyRequestResponse>
}

/**
 * Creates a client of a service in the same process, and closes the service at the end of the test. Each response of an API path is compared with the
 * OpenAPI document of its version: a response that differs rejects with an error that names the request, the status code and each difference. Where
 * the document requires an `Idempotency-Key`, a random one is added.
 *
 * @example
 * const client = testClient(t, await buildApp(settings))
 * const ada = await client.signIn('/v1/tokens', { username: 'ada@example.com', password })
 * const { status, body } = await ada.post('/v1/books', { title: 'Momo' })
 */
export function testClient(
  t: EndOfTest,
  // oxlint-disable-next-line typescript/no-explicit-any -- an instance with any type provider, logger and server
  app: FastifyInstance<any, any, any, any, any>,
  options: TestClientOptions = {}
): TestClient {
  const { headers, checkResponses } = testClientOptions.read(options)
  atEndOf(t, () => app.close())
  const inject = app.inject.bind(app) as (options: string | InjectOptions) => Promise<LightMyRequestResponse>
  const descriptions = descriptionsOf(async (url) => {
    const { statusCode, payload } = await inject({ url, headers: sent({ ...headers, accept: 'application/json' }) })
    return { status: statusCode, text: payload }
  })
  return clientOf(inject, checkResponses ? descriptions : undefined, headers)
}

type Inject = (options: string | InjectOptions) => Promise<LightMyRequestResponse>

function clientOf(send: Inject, descriptions: Descriptions | undefined, usual: Headers): TestClient {
  async function inject(options: string | InjectOptions) {
    // Injected requests and a database in this process never leave time for timers, so that a feed of revocations would become stale.
    await setImmediate()
    const { method = 'GET', url = '/' } = typeof options === 'string' ? { url: options } : options
    const received = await send(options)
    const { statusCode: status, headers, rawPayload: body } = received
    await descriptions?.check({ method, url: urlOf(url), status, headers, body })
    return received
  }

  async function request(method: string, path: string, body?: Body, own: Headers = {}): Promise<ReceivedResponse> {
    const given: Headers = { ...usual, ...own }
    const required = (await descriptions?.requiredBy(method, path)) ?? []
    const isKeyMissing = required.includes('idempotency-key') && !Object.keys(given).some((name) => /^idempotency-key$/i.test(name))
    const headers = sent({ ...given, ...(isKeyMissing && { 'idempotency-key': randomUUID() }) })
    const received = await inject({ method: method as 'GET', url: path, headers, ...(body !== undefined && { payload: body }) })
    const isJson = received.rawPayload.length > 0 && /[/+]json\b/.test(String(received.headers['content-type']))
    return {
      status: received.statusCode,
      headers: received.headers as Record<string, string>,
      body: isJson && received.headers['content-encoding'] === undefined ? received.json() : undefined,
      text: received.payload,
      bytes: received.rawPayload
    }
  }

  return {
    request,
    inject,
    get: (path, body, headers) => request('GET', path, body, headers),
    post: (path, body, headers) => request('POST', path, body, headers),
    put: (path, body, headers) => request('PUT', path, body, headers),
    patch: (path, body, headers) => request('PATCH', path, body, headers),
    delete: (path, body, headers) => request('DELETE', path, body, headers),
    async signIn(path, credentials) {
      const { status, body } = await request('POST', path, credentials)
      const token = body?.data?.accessToken
      if (typeof token !== 'string')
        throw new Error(`testing: POST ${path} returns ${status} without an access token. ${JSON.stringify(body?.error ?? {})}`)
      return clientOf(send, descriptions, { ...usual, authorization: `Bearer ${token}` })
    }
  }
}

function sent(headers: Headers): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter((header): header is [string, string] => header[1] !== undefined))
}

function urlOf(url: InjectOptions['url'] & {}): string {
  if (typeof url === 'string') return url
  const query = new URLSearchParams(url.query as Record<string, string> | undefined).toString()
  return url.pathname + (query === '' ? '' : `?${query}`)
}
