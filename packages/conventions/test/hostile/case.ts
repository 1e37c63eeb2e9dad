import type { OutgoingHttpHeaders } from 'node:http2'
import type { Step } from './exchange.ts'

/** What the last answer of a case must be. A list is for the few cases where two answers can be defended. */
export interface Expected {
  readonly status: number | readonly number[]
  /** The `error.code`; absent when the answer is a success. */
  readonly code?: string | readonly string[]
  /** The exact `Allow` header. */
  readonly allow?: string
  /** The server must end the connection after this answer. */
  readonly closes?: boolean
  /** The `field`s that `error.errors` must name, all of them and nothing else. */
  readonly fields?: readonly string[]
  /** Headers that must be there, with a pattern for the value. */
  readonly headers?: Readonly<Record<string, RegExp>>
  /** Statuses of the answers before the last one, on the same connection. */
  readonly before?: readonly number[]
}

/** One thing that a hostile, broken or unlucky client does over HTTP/1.1. */
export interface Case {
  /** Unique, a sentence's subject: "two Host headers". */
  readonly name: string
  /** The group of `groups.ts` that it belongs to. */
  readonly row: number
  /** The server of the fleet that it is sent to. Default: `main`. */
  readonly server?: string
  /** Bytes of one request, or a dialogue. */
  readonly send: Buffer | string | readonly Step[]
  /** Methods of the requests in `send`. Default: read from its first line. */
  readonly methods?: readonly string[]
  readonly tls?: { readonly alpn?: string }
  readonly host?: string
  readonly expect: Expected
}

export function stepsOf({ send }: Pick<Case, 'send'>): readonly Step[] {
  return typeof send === 'string' || Buffer.isBuffer(send) ? [send] : send
}

/** The bytes that a case begins with, as text. */
function firstBytesOf(theCase: Pick<Case, 'send'>): string {
  const first = stepsOf(theCase).find((step) => typeof step === 'string' || Buffer.isBuffer(step))
  return typeof first === 'string' ? first : Buffer.isBuffer(first) ? first.toString('latin1') : ''
}

/** Method and target of the last request, as far as its first line can be read. */
export function requestLineOf(theCase: Pick<Case, 'send' | 'methods'>): { method: string | undefined; target: string | undefined } {
  const [, method, target] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]{1,20}) (\S{1,2048}) HTTP\/\d\.\d\r\n/.exec(firstBytesOf(theCase)) ?? []
  return { method: theCase.methods?.at(-1) ?? method, target: theCase.methods === undefined ? target : undefined }
}

/** One thing that a client does over HTTP/2, to the server `http2`. */
export interface Http2Case {
  readonly name: string
  readonly row: number
  readonly headers: OutgoingHttpHeaders
  readonly body?: string | Buffer
  readonly expect: Expected
}
