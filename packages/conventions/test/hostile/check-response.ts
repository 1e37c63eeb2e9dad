import { STATUS_CODES } from 'node:http'
import type { Expected } from './case.ts'
import { headerOf, type ReceivedResponse } from './response.ts'

/** Part of every text that must not leave the service: messages, causes, payloads, header values that failed. */
export const canary = 'CANARY-7f3a'

export const publicUrl = 'https://api.example.com'

// RFC 9110 renamed two reason phrases for which Node.js still has the old form; the registered phrases are required.
const reasonPhrases: Record<number, string | undefined> = { ...STATUS_CODES, 413: 'Content Too Large', 422: 'Unprocessable Content' }

/** The request to which a response belongs. */
export interface RequestLine {
  readonly method: string | undefined
  readonly target: string | undefined
  readonly language?: 'en' | 'es'
}

type Json = Record<string, unknown>

/** Returns every problem of a response, as text; none if it meets the contract. `ids` collects the Request-Ids of a run. */
export function checkResponse(response: ReceivedResponse, expected: Expected, requestLine: RequestLine, ids: Set<string>): string[] {
  const problems: string[] = []
  const demand = (holds: boolean, problem: string) => {
    if (!holds) problems.push(problem)
  }
  const statuses = [expected.status].flat()
  demand(statuses.includes(response.status), `status ${response.status}, not ${statuses.join(' or ')}`)
  checkHeaders(response, ids, demand)
  for (const [name, pattern] of Object.entries(expected.headers ?? {})) {
    demand(pattern.test(headerOf(response, name) ?? ''), `${name}: ${headerOf(response, name)}, not ${pattern}`)
  }
  if (expected.allow !== undefined)
    demand(headerOf(response, 'allow') === expected.allow, `Allow: ${headerOf(response, 'allow')}, not ${expected.allow}`)
  if (response.status >= 400) checkError(response, expected, requestLine, demand)
  else demand(statuses.includes(response.status), 'a success where an error is required')
  return problems
}

type Demand = (holds: boolean, problem: string) => void

function checkHeaders(response: ReceivedResponse, ids: Set<string>, demand: Demand) {
  const seen = new Set<string>()
  for (const [name] of response.headers) {
    demand(!seen.has(name) || name === 'set-cookie', `${name} is duplicated`)
    seen.add(name)
  }
  const id = headerOf(response, 'request-id')
  demand(id !== undefined && /^[\w.~-]{8,64}$/.test(id), `Request-Id: ${id}`)
  demand(!ids.has(id ?? ''), `the Request-Id ${id} was used before`)
  ids.add(id ?? '')
  demand(headerOf(response, 'x-content-type-options') === 'nosniff', 'no X-Content-Type-Options: nosniff')
  demand(
    /(^|;\s*)default-src 'none'/.test(headerOf(response, 'content-security-policy') ?? ''),
    "no Content-Security-Policy with default-src 'none'"
  )
  demand(!Number.isNaN(Date.parse(headerOf(response, 'date') ?? '')), 'no Date')
  for (const name of ['server', 'x-powered-by']) demand(headerOf(response, name) === undefined, `a ${name} header`)
}

function checkError(response: ReceivedResponse, expected: Expected, requestLine: RequestLine, demand: Demand) {
  const language = requestLine.language ?? 'en'
  demand(headerOf(response, 'cache-control') === 'no-store', `Cache-Control: ${headerOf(response, 'cache-control')}`)
  demand(headerOf(response, 'content-type') === 'application/json; charset=utf-8', `Content-Type: ${headerOf(response, 'content-type')}`)
  demand(
    headerOf(response, 'content-language') === language,
    `Content-Language: ${headerOf(response, 'content-language')}, not ${language}`
  )
  demand(/(^|, ?)accept-language(,|$)/i.test(headerOf(response, 'vary') ?? ''), `Vary: ${headerOf(response, 'vary')}`)
  demand(headerOf(response, 'etag') === undefined && headerOf(response, 'last-modified') === undefined, 'a validator on an error')
  for (const name of ['content-encoding', 'trailer', 'content-disposition'])
    demand(headerOf(response, name) === undefined, `${name} on an error`)
  if (response.status === 405)
    demand(/^([A-Z]+(, [A-Z]+)*)?$/.test(headerOf(response, 'allow') ?? 'missing'), `Allow: ${headerOf(response, 'allow')} on a 405`)
  if (response.status === 503)
    demand(/^\d+$/.test(headerOf(response, 'retry-after') ?? ''), `Retry-After: ${headerOf(response, 'retry-after')} on a 503`)
  if (requestLine.method === 'HEAD') return
  const length = headerOf(response, 'content-length')
  demand(length === String(response.body.length), `Content-Length ${length} for ${response.body.length} bytes`)
  const body = parseObject(response.body)
  if (body === undefined) return demand(false, `the body is not a JSON object: ${response.body.toString('latin1', 0, 200)}`)
  checkEnvelope(body, response.status, expected, requestLine, demand)
}

function checkEnvelope(body: Json, status: number, expected: Expected, requestLine: RequestLine, demand: Demand) {
  demand(Object.keys(body).join() === 'error,_meta,_links' || sorted(body) === '_links,_meta,error', `the members ${sorted(body)}`)
  const error = objectOf(body['error'])
  const members = sorted(error).replace('error,errors', 'errors,error')
  demand(/^code,effect,(errors,)?error,message,retry,status$/.test(members), `error has ${members}`)
  demand(/^(later|changed|never)$/.test(String(error['retry'])), `error.retry ${String(error['retry'])}`)
  demand(/^(none|done|unknown)$/.test(String(error['effect'])), `error.effect ${String(error['effect'])}`)
  demand(error['status'] === status, `error.status ${String(error['status'])}, not ${status}`)
  const phrase = status === 422 ? /^(ValidationError|Unprocessable Content)$/ : new RegExp(`^${reasonPhrases[status] ?? '-'}$`)
  demand(phrase.test(String(error['error'])), `error.error "${String(error['error'])}", not ${phrase.source}`)
  const codes = expected.code === undefined ? [] : [expected.code].flat()
  demand(codes.includes(String(error['code'])), `error.code ${String(error['code'])}, not ${codes.join(' or ')}`)
  demand(/^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$/.test(String(error['code'])), `error.code ${String(error['code'])} is not UPPER_SNAKE`)
  demand(
    typeof error['message'] === 'string' && error['message'].length > 10 && !/[{}\n]/.test(error['message']),
    'error.message is not a sentence'
  )
  checkFieldErrors(error['errors'], status, expected, demand)
  const meta = objectOf(body['_meta'])
  demand(sorted(meta) === 'timestamp,version', `_meta has ${sorted(meta)}`)
  demand(/^v\d+$/.test(String(meta['version'])), `_meta.version ${String(meta['version'])}`)
  demand(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z$/.test(String(meta['timestamp'])), `_meta.timestamp ${String(meta['timestamp'])}`)
  checkLinks(body['_links'], requestLine, demand)
}

function checkFieldErrors(errors: unknown, status: number, expected: Expected, demand: Demand) {
  if (errors === undefined) {
    demand(status !== 422, 'a 422 without errors')
    return demand(expected.fields === undefined, 'no errors by field')
  }
  if (!Array.isArray(errors) || errors.length === 0 || errors.length > 100) return demand(false, 'errors is not a list of 1 to 100')
  for (const entry of errors.map(objectOf)) {
    demand(sorted(entry) === 'field,message', `an entry of errors has ${sorted(entry)}`)
    demand(
      typeof entry['field'] === 'string' && typeof entry['message'] === 'string' && entry['message'] !== '',
      'an entry of errors without text'
    )
  }
  const fields = errors.map((entry) => String(objectOf(entry)['field'])).toSorted()
  if (expected.fields !== undefined) {
    demand(fields.join() === expected.fields.toSorted().join(), `errors names ${fields.join()}, not ${expected.fields.toSorted().join()}`)
  }
}

function checkLinks(links: unknown, { method, target }: RequestLine, demand: Demand) {
  const self = objectOf(Array.isArray(links) ? links[0] : undefined)
  demand(sorted(self) === 'href,method,rel' && self['rel'] === 'self', '_links[0] is not a self link')
  const href = String(self['href'])
  demand(href.startsWith(`${publicUrl}/`) && URL.canParse(href), `the self link is ${href}`)
  const shown = method?.slice(0, 32) ?? 'UNKNOWN'
  demand(self['method'] === shown, `the method of the self link is ${String(self['method'])}, not ${shown}`)
  if (target !== undefined && /^\/[\w/.~%-]{0,500}$/.test(target))
    demand(href === publicUrl + target.replaceAll(/%(?![\dA-Fa-f]{2})/g, '%25'), `the self link is ${href}, not ${target}`)
}

function parseObject(bytes: Buffer): Json | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString())
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined
  } catch {
    return undefined
  }
}

function objectOf(value: unknown): Json {
  return typeof value === 'object' && value !== null ? (value as Json) : {}
}

function sorted(value: Json) {
  return Object.keys(value).toSorted().join()
}
