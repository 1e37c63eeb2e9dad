import type { OutgoingHttpHeaders } from 'node:http2'
import type { Step } from './exchange.ts'

/** The last response that a case requires. A list is for the few cases in which more than one response is correct. */
export interface Expected {
  readonly status: number | readonly number[]
  /** The `error.code`; absent for a successful response. */
  readonly code?: string | readonly string[]
  /** The exact `Allow` header. */
  readonly allow?: string
  /** The server must end the connection after this response. */
  readonly closes?: boolean
  /** The `field`s that `error.errors` must contain, all of them and no others. */
  readonly fields?: readonly string[]
  /** Headers that must be present, with a pattern for the value. */
  readonly headers?: Readonly<Record<string, RegExp>>
  /** Statuses of the responses before the last one, on the same connection. */
  readonly before?: readonly number[]
}

/** A request or dialogue of a hostile, broken or unlucky client over HTTP/1.1. */
export interface Case {
  /** A unique noun phrase, for example "two Host headers". */
  readonly name: string
  /** Its group in `groups.ts`. */
  readonly row: number
  /** The server of the fleet that receives it. Default: `main`. */
  readonly server?: string
  /** Bytes of one request, or a dialogue. */
  readonly send: Buffer | string | readonly Step[]
  /** Methods of the requests in `send`. Default: read from its first line. */
  readonly methods?: readonly string[]
  readonly tls?: { readonly alpn?: string }
  readonly host?: string
  readonly expect: Expected
}

/** Returns the cases of one group that have the same response: their bytes by their names. */
export function cases(row: number, expect: Expected, sends: Readonly<Record<string, Case['send']>>): Case[] {
  return Object.entries(sends).map(([name, send]) => ({ name, row, send, expect }))
}

export function stepsOf({ send }: Pick<Case, 'send'>): readonly Step[] {
  return typeof send === 'string' || Buffer.isBuffer(send) ? [send] : send
}

/** Returns the first bytes of a case, as text. */
function firstBytesOf(theCase: Pick<Case, 'send'>): string {
  const first = stepsOf(theCase).find((step) => typeof step === 'string' || Buffer.isBuffer(step))
  return typeof first === 'string' ? first : Buffer.isBuffer(first) ? first.toString('latin1') : ''
}

/** Returns the method and target of the last request, as far as its first line can be parsed. */
export function requestLineOf(theCase: Pick<Case, 'send' | 'methods'>): { method: string | undefined; target: string | undefined } {
  const [, method, target] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]{1,20}) (\S{1,2048}) HTTP\/\d\.\d\r\n/.exec(firstBytesOf(theCase)) ?? []
  return { method: theCase.methods?.at(-1) ?? method, target: theCase.methods === undefined ? target : undefined }
}

/** A request over HTTP/2, to the server `http2`. */
export interface Http2Case {
  readonly name: string
  readonly row: number
  readonly headers: OutgoingHttpHeaders
  readonly body?: string | Buffer
  readonly expect: Expected
}
