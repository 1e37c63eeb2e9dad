import { randomUUID } from 'node:crypto'
import type { RequestKey } from '@concordat/plugin-kit/wiring'
import type { ExecutedOperation } from './execute-operation.ts'
import { jsonType } from './operation-headers.ts'

/** The headers that a client needs to interpret an outcome. Limits, deprecations, security headers and cookies are not included. */
const outcomeHeaders: ReadonlySet<string> = new Set([
  'allow',
  'content-language',
  'content-type',
  'etag',
  'idempotency-replayed',
  'idempotency-status',
  'last-modified',
  'location',
  'preference-applied',
  'request-id',
  'retry-after',
  'www-authenticate'
])

/** Outcome of an operation. */
export interface Outcome {
  readonly id: string
  readonly status: number
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly body?: string | undefined
}

type OutcomeKey = Pick<RequestKey, 'storedForm'> | null | undefined

// A handler can send any text as JSON, and a single one would make the whole response unreadable.
function isJson(type = '', body: string) {
  if (!jsonType.test(type)) return false
  try {
    JSON.parse(body)
    return true
  } catch {
    return false
  }
}

/** Returns the final outcomes of earlier attempts by the ids of their operations. */
export function storedIn(progress: string | undefined): ReadonlyMap<string, Outcome> {
  const outcomes = progress === undefined ? [] : (JSON.parse(progress) as Outcome[])
  return new Map(outcomes.map((outcome) => [outcome.id, outcome]))
}

/**
 * Outcomes of a batch. Bodies are JSON text and are copied into the response unchanged: an outcome has a random marker in place of its body, which
 * `fill` replaces after the response has been serialized.
 */
export class Outcomes {
  readonly #key: OutcomeKey
  readonly #mark: string = randomUUID()
  readonly #bodies: string[] = []
  /** The bodies in the form in which they are stored. */
  readonly #storedBodies: string[] = []
  readonly #all: Outcome[] = []
  #bytesLeft: number
  /** The final outcomes, with their bodies as they are stored. */
  readonly #final: Outcome[] = []

  /** `stored` are the final outcomes of earlier attempts, whose bodies are part of `maxBytes`. */
  constructor(maxBytes: number, key: OutcomeKey, stored: Iterable<Outcome>) {
    this.#key = key
    this.#bytesLeft = maxBytes
    for (const { body = '' } of stored) this.#bytesLeft -= Buffer.byteLength(body)
  }

  get all(): readonly Outcome[] {
    return this.#all
  }

  get bytesLeft(): number {
    return this.#bytesLeft
  }

  /** The final outcomes as text, for {@link storedIn}. */
  get progress(): string {
    return JSON.stringify(this.#final)
  }

  /** Whether each outcome is final. */
  get areFinal(): boolean {
    return this.#final.length === this.#all.length
  }

  /** Adds a final outcome of an earlier attempt. */
  addStored(outcome: Outcome): void {
    this.#final.push(outcome)
    this.#append(outcome)
  }

  add(id: string, result: ExecutedOperation): void {
    const { status, headers, body, bodyBytes, isFinal } = result
    const shown: Record<string, string> = {}
    for (const field in headers) {
      const name = field.toLowerCase()
      const value = headers[field]
      if (value !== undefined && (name === 'content-type' || outcomeHeaders.has(name))) shown[name] = [value].flat().join(', ')
    }
    const isShown = bodyBytes > 0 && body !== undefined && bodyBytes <= this.#bytesLeft && isJson(shown['content-type'], body)
    if (bodyBytes > 0 && !isShown) shown['content-length'] = String(bodyBytes)
    if (isShown) this.#bytesLeft -= bodyBytes
    const outcome = { id, status, ...(Object.keys(shown).length > 0 && { headers: shown }), ...(isShown && { body }) }
    const stored = this.#storedForm(outcome, result)
    if (isFinal) this.#final.push(stored)
    this.#append(outcome, stored.body)
  }

  #storedForm(outcome: Outcome, { request }: ExecutedOperation): Outcome {
    const { status, headers, body } = outcome
    if (!this.#key || request === undefined || body === undefined) return outcome
    const stored = this.#key.storedForm(body, request, status) || 'null'
    return stored === body ? outcome : { ...outcome, headers: { ...headers, 'idempotency-status': 'incomplete' }, body: stored }
  }

  #append({ body, ...outcome }: Outcome, storedBody = body) {
    this.#all.push(body === undefined ? outcome : { ...outcome, body: this.#mark })
    if (body === undefined) return
    this.#bodies.push(body)
    this.#storedBodies.push(storedBody ?? body)
  }

  /** Inserts the bodies into the response. A response that does not contain these outcomes is returned unchanged. */
  fill(result: string): string {
    return this.#filled(result, this.#bodies) ?? result
  }

  /** Returns the response with the bodies as they are stored, or undefined if they are stored as they are sent. */
  storedResponse(result: string): string | undefined {
    const isSame = this.#bodies.every((body, index) => body === this.#storedBodies[index])
    return isSame ? undefined : this.#filled(result, this.#storedBodies)
  }

  #filled(result: string, bodies: readonly string[]) {
    const parts = result.split(`"${this.#mark}"`)
    if (parts.length !== bodies.length + 1) return undefined
    return parts.map((part, index) => part + (bodies[index] ?? '')).join('')
  }
}
