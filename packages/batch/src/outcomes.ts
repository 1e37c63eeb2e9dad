import { randomUUID } from 'node:crypto'
import type { OperationResult } from './operation-response.ts'

/** Outcome of an operation. */
export interface Outcome {
  readonly id: string
  readonly status: number
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly body?: string | undefined
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

  constructor(shown: ReadonlySet<string>, maxBytes: number) {
    this.#shown = shown
    this.#bytesLeft = maxBytes
  }

  get all(): readonly Outcome[] {
    return this.#all
  }

  get bytesLeft(): number {
    return this.#bytesLeft
  }

  add(id: string, { status, headers, body, bodyBytes }: OperationResult): void {
    const shown: Record<string, string> = {}
    for (const field in headers) {
      const name = field.toLowerCase()
      const value = headers[field]
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
  fill(result: string): string {
    const parts = result.split(`"${this.#mark}"`)
    if (parts.length !== this.#bodies.length + 1) return result
    return parts.map((part, index) => part + (this.#bodies[index] ?? '')).join('')
  }
}
