import { randomUUID } from 'node:crypto'
import type { OperationAnswer } from './operation-response.ts'

/** Outcome of an operation. */
export interface Outcome {
  readonly id: string
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

const isJson = /^application\/(?:json|[\w!#$&^.-]+\+json) *(?:;|$)/i

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

  constructor(shown: ReadonlySet<string>, maximumBytes: number) {
    this.#shown = shown
    this.#bytesLeft = maximumBytes
  }

  get all(): readonly Outcome[] {
    return this.#all
  }

  get bytesLeft(): number {
    return this.#bytesLeft
  }

  add(id: string, { status, headers, body, bodyBytes }: OperationAnswer): void {
    const shown: Record<string, string> = {}
    for (const given in headers) {
      const name = given.toLowerCase()
      const value = headers[given]
      if (value !== undefined && (name === 'content-type' || this.#shown.has(name))) shown[name] = [value].flat().join(', ')
    }
    const isShown = bodyBytes > 0 && body !== undefined && bodyBytes <= this.#bytesLeft && isJson.test(shown['content-type'] ?? '')
    if (bodyBytes > 0 && !isShown) shown['content-length'] = String(bodyBytes)
    this.#all.push({ id, status, ...(Object.keys(shown).length > 0 && { headers: shown }), ...(isShown && { body: this.#mark }) })
    if (!isShown) return
    this.#bytesLeft -= bodyBytes
    this.#bodies.push(body)
  }

  /** Inserts the bodies into the response. A response that does not contain these outcomes is returned unchanged. */
  fill(answer: string): string {
    const parts = answer.split(`"${this.#mark}"`)
    if (parts.length !== this.#bodies.length + 1) return answer
    return parts.map((part, index) => part + (this.#bodies[index] ?? '')).join('')
  }
}
