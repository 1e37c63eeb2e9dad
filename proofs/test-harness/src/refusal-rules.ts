// The rules of errors, checked on what a service refuses. The ids are those of the interface specification.
import { randomUUID } from 'node:crypto'
import type { Test } from 'tap'
import type { Exchange, Send } from './exchanges.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- any document
type Loose = any

/** The expected status and code of a refused request, and what the service responded. */
export type Refusal = readonly [status: number, code: string, refused: Exchange]

/** Where a service can be sent what every service refuses. */
export interface Refused {
  /** Sends requests without credentials. */
  readonly send: Send
  readonly credentials: Readonly<Record<string, string>>
  readonly document: Loose
  /** A list that everyone reads and that can be filtered by this text member; new items have it too. */
  readonly list: string
  readonly member: string
  /** An item of the list with a validator, which can be changed. */
  readonly item: string
  /** An item that can be changed, and its member with an integer. */
  readonly counted: readonly [path: string, member: string]
  /** A path that requires credentials to read. */
  readonly restricted: string
  /** A creation that requires a key, and a valid body of it. */
  readonly keyed: readonly [path: string, body: object]
  /** Where tokens are issued. */
  readonly tokens: string
}

/** Sends one request for each way in which every service refuses requests. */
export async function commonRefusals(where: Refused): Promise<Refusal[]> {
  const { send, credentials, document, list, member, item, counted, restricted, keyed, tokens } = where
  const json = { 'content-type': 'application/json', ...credentials }
  const version = list.split('/')[1]
  // The limits are published in the description.
  const limit = (text: RegExp) => 'x'.repeat(Number(text.exec(document.info.description)?.[1]))
  const [bytes, characters] = [limit(/body can have at most (\d+) bytes/), limit(/URI can have at most (\d+) characters/)]
  const requests: readonly (readonly [number, string, ...Parameters<Send>])[] = [
    [400, 'MALFORMED_JSON', 'POST', list, `{"${member}":`, json],
    [400, 'EMPTY_BODY', 'POST', list, '', json],
    [400, 'INVALID_UTF8', 'POST', list, Buffer.from(`{"${member}":"\xff\xfe1"}`, 'latin1'), json],
    [400, 'MALFORMED_URI', 'GET', `${list}/%zz`, undefined, credentials],
    [400, 'MALFORMED_URI', 'GET', `${list}?${member}=%FF`, undefined, credentials],
    [400, 'CREDENTIALS_IN_URI', 'GET', `${restricted}?access_token=abc`, undefined, credentials],
    [400, 'IDEMPOTENCY_KEY_REQUIRED', 'POST', keyed[0], keyed[1], credentials],
    [401, 'AUTHENTICATION_REQUIRED', 'GET', restricted],
    [401, 'AUTHENTICATION_REQUIRED', 'GET', restricted, undefined, { authorization: `Basic ${btoa('ada@example.com:x')}` }],
    [401, 'INVALID_TOKEN', 'GET', restricted, undefined, { authorization: 'Bearer invalid' }],
    [401, 'INVALID_CREDENTIALS', 'POST', tokens, { username: 'ada@example.com', password: 'wrong' }],
    [404, 'RESOURCE_NOT_FOUND', 'GET', `${list}/${randomUUID()}`],
    [404, 'RESOURCE_NOT_FOUND', 'GET', `${list}/1`, undefined, credentials],
    [404, 'RESOURCE_NOT_FOUND', 'GET', `${list}/%00`, undefined, credentials],
    [404, 'RESOURCE_NOT_FOUND', 'PUT', '/nowhere', undefined, credentials],
    [404, 'VERSION_NOT_FOUND', 'GET', list.replace(`${version}`, 'v9')],
    [404, 'VERSION_NOT_FOUND', 'GET', list.replace(`${version}`, 'v1.2')],
    [405, 'METHOD_NOT_ALLOWED', 'PUT', list, undefined, credentials],
    [406, 'NOT_ACCEPTABLE', 'GET', list, undefined, { accept: 'application/xml' }],
    [412, 'PRECONDITION_FAILED', 'PATCH', item, {}, { ...credentials, 'if-match': '"none"' }],
    [413, 'PAYLOAD_TOO_LARGE', 'POST', list, { [member]: bytes }, credentials],
    [414, 'URI_TOO_LONG', 'GET', `${list}?${member}=${characters}`],
    [415, 'UNSUPPORTED_MEDIA_TYPE', 'POST', list, '<name/>', { ...credentials, 'content-type': 'text/xml' }],
    [415, 'UNSUPPORTED_MEDIA_TYPE', 'POST', list, Buffer.from('{}'), credentials],
    [422, 'VALIDATION_FAILED', 'POST', list, { [member]: '', secret: true }, credentials],
    [422, 'VALIDATION_FAILED', 'PATCH', item, { [member]: 'a\0b' }, { ...credentials, 'if-match': '*' }],
    [422, 'VALIDATION_FAILED', 'PATCH', item, String.raw`{"${member}":"\ud800"}`, { ...json, 'if-match': '*' }],
    [422, 'VALIDATION_FAILED', 'PATCH', counted[0], `{"${counted[1]}":9007199254740993}`, { ...json, 'if-match': '*' }],
    [422, 'VALIDATION_FAILED', 'PATCH', counted[0], `{"${counted[1]}":1e999}`, { ...json, 'if-match': '*' }],
    [422, 'VALIDATION_FAILED', 'POST', tokens, { username: 'ada\0', password: 'wrong' }],
    [422, 'INVALID_QUERY_PARAMETERS', 'GET', `${list}?${member}=a%00b`],
    [422, 'INVALID_QUERY_PARAMETERS', 'GET', `${item}?fields=%00`],
    [422, 'INVALID_QUERY_PARAMETERS', 'GET', `${list}?sort=secret&perPage=0`],
    [422, 'INVALID_QUERY_PARAMETERS', 'GET', `${item}?fields=secret`]
  ]
  const refusals: Refusal[] = []
  for (const [status, code, ...request] of requests) refusals.push([status, code, await send(...request)])
  return refusals
}

/** Adds a test for each rule of errors. */
export function testRefusals(t: Test, refusals: readonly Refusal[], document: Loose): void {
  void t.test('the most specific status and code are used, and never a success [X2] [X6] [N3] [U5] [U7] [V1]', async (t) => {
    for (const [status, code, { method, path, status: got, body }] of refusals)
      t.strictSame([got, body?.error?.code], [status, code], `${method} ${path.slice(0, 60)}`)
  })

  void t.test('every refusal has one shape, with the failed method in its link, and nothing internal [E4] [S13]', async (t) => {
    for (const [status, code, { method, text, headers }] of refusals) {
      const { error, _links, _meta, ...others } = JSON.parse(text)
      t.strictSame(others, {}, code)
      t.match(error, { status, error: /^[A-Z]/, message: /^[A-Z].*\.$/, code }, code)
      t.strictSame(
        Object.keys(error).filter((name) => !['status', 'error', 'message', 'code', 'retry', 'effect', 'errors'].includes(name)),
        [],
        code
      )
      t.match(_links, [{ rel: 'self', href: /^http/, method }], code)
      t.match(_meta, { version: /^v\d+$/, timestamp: /Z$/ }, code)
      t.equal(headers.get('cache-control'), 'no-store', code)
      t.notMatch(text, /node_modules|\.ts:|\.js:|at \w+ \(|SELECT|FST_|ERR_|pg_|relation "/, code)
    }
  })

  void t.test('a refusal has the headers that explain it [H1]', async (t) => {
    for (const [status, code, { headers }] of refusals) {
      if (status === 401) t.match(headers.get('www-authenticate'), /^Bearer realm=/, code)
      if (status === 405) t.match(headers.get('allow'), /GET, HEAD/, code)
      if (status === 412) t.match(headers.get('etag'), /^"/, code)
      t.match(headers.get('request-id'), /./, code)
      t.equal(headers.get('content-language'), 'en', code)
    }
  })

  void t.test('every code is published with its status and its remedy, and every 422 lists its errors [X3]', async (t) => {
    const responses: Loose[] = Object.values(document.components.responses)
    const published = new Map(responses.flatMap(({ content }) => Object.entries<Loose>(content['application/json'].examples ?? {})))
    for (const [status, code, { body }] of refusals) {
      // These are about requests for which there is no operation.
      if (!['VERSION_NOT_FOUND', 'METHOD_NOT_ALLOWED'].includes(code)) {
        t.equal(published.get(code)?.value.error.status, status, code)
        t.match(published.get(code)?.summary, /^[A-Z].+\.$/, code)
      }
      if (status === 422) t.match(body.error.errors, [{ field: /^(?:body|query|header|path)\./, message: String }], code)
    }
  })
}
