import { randomUUID } from 'node:crypto'
import type { CarriedOut } from './carry-out.ts'

/** Outcome of an operation. */
export interface Outcome {
  readonly id: string
  readonly status: number
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly body?: string | undefined
}

const isJson = /^application\/(?:json|[\w!#$&^.-]+\+json) *(?:;|$)/i

/** Returns the final outcomes of earlier attempts by the ids of their operations. */
export function storedIn(progress: string | undefined): ReadonlyMap<string, Outcome> {
  const outcomes = progress === undefined ? [] : (JSON.parse(progress) as Outcome[])
  return new Map(outcomes.map((outcome) => [outcome.id, outcome]))
}

/**
 * Outcomes of a batch. Bodies are already JSON text and are copied into the response unchanged: an outcome has a random marker in place of
 * its body, which clients cannot guess, and `fill` replaces the markers after the response has been serialized.
 */
export class Outcomes {
  readonly #shown: ReadonlySet<string>
  readonly #mark: string = randomUUID()
  #bodies: string[] = []
  #all: Outcome[] = []
  #bytesLeft: number
  /** The final outcomes, with their bodies. */
  readonly #final: Outcome[] = []

  /** `stored` are the final outcomes of earlier attempts, whose bodies are part of `maxBytes`. */
  constructor(shown: ReadonlySet<string>, maxBytes: number, stored: Iterable<Outcome> = []) {
    this.#shown = shown
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

  add(id: string, { status, headers, body, bodyBytes, isFinal }: CarriedOut): void {
    const shown: Record<string, string> = {}
    for (const field in headers) {
      const name = field.toLowerCase()
      const value = headers[field]
      if (value !== undefined && (name === 'content-type' || this.#shown.has(name))) shown[name] = [value].flat().join(', ')
    }
    const isShown = bodyBytes > 0 && body !== undefined && bodyBytes <= this.#bytesLeft && isJson.test(shown['content-type'] ?? '')
    if (bodyBytes > 0 && !isShown) shown['content-length'] = String(bodyBytes)
    if (isShown) this.#bytesLeft -= bodyBytes
    const outcome = { id, status, ...(Object.keys(shown).length > 0 && { headers: shown }), ...(isShown && { body }) }
    if (isFinal) this.#final.push(outcome)
    this.#append(outcome)
  }

  #append({ body, ...outcome }: Outcome) {
    this.#all.push(body === undefined ? outcome : { ...outcome, body: this.#mark })
    if (body !== undefined) this.#bodies.push(body)
  }

  /** Inserts the bodies into the response. A response that does not contain these outcomes is returned unchanged. */
  fill(result: string): string {
    const parts = result.split(`"${this.#mark}"`)
    if (parts.length !== this.#bodies.length + 1) return result
    return parts.map((part, index) => part + (this.#bodies[index] ?? '')).join('')
  }
}
