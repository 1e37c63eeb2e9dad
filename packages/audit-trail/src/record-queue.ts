import { waitAtMost } from '@concordat/deadline'
import type { Observer } from '@concordat/observer'
import { outageLog } from '@concordat/outage-log'
import type { FastifyBaseLogger } from 'fastify'
import type { AuditRecord } from './record.ts'
import type { AuditTrailStore } from './store.ts'

const lost = { name: 'concordat.audit_trail.lost', unit: '{record}', description: 'Audit records that could not be stored, by reason.' }

// Records of requests that arrive together are stored by one statement.
const gatherMs = 250
const maxRecords = 500
// About 5 MB. One client, or one address without a client, fills at most a tenth.
const maxWaiting = 10_000
const maxOfClient = 1000
// With pauses that double from 0.25 s, about 16 seconds.
const maxAttempts = 7
// A process that receives a stop signal has ten seconds in total.
const closeMs = 2000

interface Waiting {
  readonly record: AuditRecord
  readonly client: string
}

/** The records that are stored after their responses. Requests never wait for it. */
export class RecordQueue {
  readonly #store: Pick<AuditTrailStore, 'add'>
  readonly #observer: Observer | undefined
  readonly #reportFailure: ReturnType<typeof outageLog>
  #waiting: Waiting[] = []
  readonly #ofClient = new Map<string, number>()
  #timer: NodeJS.Timeout | undefined
  #storing: Promise<void> | undefined
  #attempts = 0
  #isClosed = false

  constructor(store: Pick<AuditTrailStore, 'add'>, observer: Observer | undefined, log: FastifyBaseLogger) {
    this.#store = store
    this.#observer = observer
    this.#reportFailure = outageLog(log)
  }

  /** Stores the record soon, with others. It is lost if too many records wait already, of this client or of all. */
  add(record: AuditRecord, client: string): void {
    const count = this.#ofClient.get(client) ?? 0
    if (this.#isClosed || this.#waiting.length >= maxWaiting || count >= maxOfClient)
      return this.#lose(1, this.#isClosed ? 'closed' : 'queueFull')
    this.#ofClient.set(client, count + 1)
    this.#waiting.push({ record, client })
    this.#schedule(gatherMs)
  }

  /** Stores what waits, for at most two seconds. */
  async close(): Promise<void> {
    clearTimeout(this.#timer)
    this.#isClosed = true
    await waitAtMost(this.#storeAll(), closeMs)
    if (this.#waiting.length > 0) this.#lose(this.#waiting.length, 'closed')
  }

  #schedule(ms: number) {
    this.#timer ??= setTimeout(() => void this.#storeAll(), ms).unref()
  }

  // One statement at a time, so that a slow store has one at a time.
  #storeAll(): Promise<void> {
    this.#storing ??= this.#storeInTurn().finally(() => {
      this.#storing = undefined
      this.#timer = undefined
      if (this.#waiting.length > 0 && !this.#isClosed) this.#schedule(gatherMs * 2 ** Math.max(0, this.#attempts - 1))
    })
    return this.#storing
  }

  async #storeInTurn() {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, maxRecords)
      try {
        await this.#store.add(batch.map(({ record }) => record))
        this.#attempts = 0
      } catch (error) {
        this.#reportFailure(error, 'audit-trail: records cannot be stored')
        this.#attempts += 1
        if (this.#attempts < maxAttempts) return
        this.#attempts = 0
        this.#lose(batch.length, 'storeFailed')
      }
      this.#remove(batch)
    }
  }

  #remove(batch: readonly Waiting[]) {
    this.#waiting.splice(0, batch.length)
    for (const { client } of batch) {
      const count = (this.#ofClient.get(client) as number) - 1
      if (count > 0) this.#ofClient.set(client, count)
      else this.#ofClient.delete(client)
    }
  }

  #lose(count: number, reason: 'queueFull' | 'storeFailed' | 'closed') {
    for (let index = 0; index < count; index += 1) this.#observer?.count(lost, { reason })
    this.#reportFailure(new Error(`Records were lost: ${reason}.`), 'audit-trail: records are lost')
  }
}
