import type { LargeJson } from './api.ts'
import { ApiError, type Effect, type FieldError, type Retry } from './api-error.ts'
import { meaningOf } from './retry.ts'

/** A response that was read. */
export interface Answer {
  /** The resource: `data` of an envelope, otherwise the whole body. */
  readonly data: unknown
  readonly body: unknown
  readonly response: Response
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

/** Reads a response: JSON, a text, or bytes as a `Blob`; undefined without a body. */
export async function readResponse(response: Response, json: LargeJson, path: string): Promise<Answer> {
  const type = response.headers.get('content-type') ?? ''
  let body: unknown
  if (/[/+]json\b/.test(type)) body = json.parse(await response.text(), path)
  else if (type.startsWith('text/') || !response.ok) body = await response.text()
  else {
    const bytes = await response.blob()
    body = bytes.size === 0 ? undefined : bytes
  }
  return { data: isObject(body) && '_meta' in body && 'data' in body ? body['data'] : body, body, response }
}

// In a problem document, `detail` is the message.
const fieldErrorOf = ({ detail, ...one }: Record<string, unknown>) => ({ message: detail, ...one }) as FieldError

/** The request that an error belongs to. */
export interface FailedRequest {
  readonly method: string
  readonly key: string | undefined
  /** Whether it can be sent twice with one effect. */
  readonly isRepeatable: boolean
}

/**
 * Returns the error of a response in the envelope, of a problem document (RFC 9457), or of any other response. What it does not say of itself follows from
 * its status and code. `joined` adds what earlier attempts have done.
 */
export function errorOf(
  { body, response: { status, headers } }: Omit<Answer, 'data'>,
  { method, key, isRepeatable }: FailedRequest,
  attempts = 1,
  joined = (effect: Effect) => effect
): ApiError {
  const outer = isObject(body) ? body : {}
  const error = isObject(outer['error']) ? outer['error'] : outer
  const text = (name: string) => (typeof error[name] === 'string' ? error[name] : undefined)
  const code = text('code') ?? `HTTP_${status}`
  const isReplayed = headers.get('idempotency-replayed') === 'true'
  const meaning = meaningOf({ method, status, code, isKeyed: key !== undefined, isRepeatable, isReplayed })
  return new ApiError(text('message') ?? text('detail') ?? text('title') ?? `The service responded with the status ${status}.`, {
    code,
    status,
    errors: Array.isArray(error['errors']) ? error['errors'].filter(isObject).map(fieldErrorOf) : [],
    headers,
    retry: (text('retry') as Retry | undefined) ?? meaning.retry,
    effect: joined((text('effect') as Effect | undefined) ?? meaning.effect),
    idempotencyKey: key,
    attempts
  })
}
