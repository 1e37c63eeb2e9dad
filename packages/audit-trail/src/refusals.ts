import type { AuditRecord } from './record.ts'

const windowMs = 60_000
// About 5 MB.
const maxRefusals = 5000

interface Refusal {
  readonly record: AuditRecord
  readonly client: string
  readonly until: number
  repetitions: number
}

type Add = (record: AuditRecord, client: string) => void

/**
 * Records the first request of a client to a route that is refused with an error, and counts those that follow within a minute, because anybody can send
 * any number of them. `add` gets the first record, and it again with their number when the minute is over.
 */
export class Refusals {
  readonly #add: Add
  readonly #lose: () => void
  readonly #refusals = new Map<string, Refusal>()

  constructor(add: Add, lose: () => void) {
    this.#add = add
    this.#lose = lose
  }

  note(record: AuditRecord, client: string): void {
    const { method, route, status, errorCode = status } = record
    const key = `${client}\n${method} ${route}\n${errorCode}`
    const known = this.#refusals.get(key)
    if (known !== undefined && Date.now() < known.until) {
      known.repetitions += 1
      return
    }
    if (known !== undefined) this.#end(key, known)
    if (this.#refusals.size >= maxRefusals) return this.#lose()
    this.#refusals.set(key, { record, client, until: Date.now() + windowMs, repetitions: 0 })
    this.#add(record, client)
  }

  /** Ends the minutes that are over, or all of them. */
  end(everything = false): void {
    for (const [key, refusal] of this.#refusals) if (everything || refusal.until <= Date.now()) this.#end(key, refusal)
  }

  #end(key: string, { record, client, repetitions }: Refusal) {
    this.#refusals.delete(key)
    if (repetitions > 0) this.#add({ ...record, repetitions }, client)
  }
}
