import type { ApiErrorFacts, Effect, FieldError, Retry } from './api-error.ts'

/** A response that was read. */
export interface Answer {
  /** The resource: `data` of an envelope, otherwise the whole body. */
  readonly data: unknown
  readonly body: unknown
  readonly response: Response
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

/** Reads a response: JSON, a text, or bytes as a `Blob`; undefined without a body. */
export async function readResponse(response: Response): Promise<Answer> {
  const type = response.headers.get('content-type') ?? ''
  let body: unknown
  if (/[/+]json\b/.test(type)) body = JSON.parse(await response.text())
  else if (type.startsWith('text/') || !response.ok) body = await response.text()
  else {
    const bytes = await response.blob()
    body = bytes.size === 0 ? undefined : bytes
  }
  return { data: isObject(body) && '_meta' in body && 'data' in body ? body['data'] : body, body, response }
}

// In a problem document, `detail` is the message.
const fieldErrorOf = ({ detail, ...one }: Record<string, unknown>) => ({ message: detail, ...one }) as FieldError

/** What an error response says of itself. Members that it does not have are undefined. */
export interface Complaint extends Pick<ApiErrorFacts, 'code' | 'errors'> {
  readonly message: string
  readonly retry?: Retry | undefined
  readonly effect?: Effect | undefined
}

/** Reads the error of a response in the envelope, of a problem document (RFC 9457), and of any other response. */
export function complaintOf({ body, response: { status } }: Answer): Complaint {
  const outer = isObject(body) ? body : {}
  const error = isObject(outer['error']) ? outer['error'] : outer
  const text = (name: string) => (typeof error[name] === 'string' ? error[name] : undefined)
  return {
    code: text('code') ?? `HTTP_${status}`,
    message: text('message') ?? text('detail') ?? text('title') ?? `The service responded with the status ${status}.`,
    errors: Array.isArray(error['errors']) ? error['errors'].filter(isObject).map(fieldErrorOf) : [],
    retry: text('retry') as Retry | undefined,
    effect: text('effect') as Effect | undefined
  }
}
