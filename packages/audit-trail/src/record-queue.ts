import { waitAtMost } from '@concordat/plugin-kit/deadline'
import type { Observer } from '@concordat/plugin-kit/observer'
import { outageLog } from '@concordat/plugin-kit/outage-log'
import type { FastifyBaseLogger } from 'fastify'
import type { AuditRecord } from './record.ts'
import type { AuditTrailStore } from './store.ts'

const lost = {
  name: 'concordat.audit_trail.lost',
  unit: '{record}',
  description: 'Audit records that could not be stored, by reason and outcome.'
}

// Records of requests that arrive together are stored by one statement.
const gatherMs = 250
const maxRecords = 500
// About 5 MB. One client, or one address without a client, fills at most a tenth, and refusals take no place of what changed something.
const places = { change: { ofAll: 8000, ofClient: 1000 }, refusal: { ofAll: 2000, ofClient: 200 } } as const
// With pauses that double from 0.25 s, about 16 seconds.
const maxAttempts = 7
// A process that receives a stop signal has ten seconds in total.
const closeMs = 2000

interface Waiting {
  readonly record: AuditRecord
  readonly client: string
  readonly kind: keyof typeof places
}

/** The records that are stored after their responses. Requests never wait for it. */
export class RecordQueue {
  readonly #store: Pick<AuditTrailStore, 'add'>
  readonly #observer: Observer | undefined
  readonly #reportFailure: ReturnType<typeof outageLog>
  #waiting: Waiting[] = []
  readonly #ofClient = new Map<string, number>()
  readonly #ofAll = { change: 0, refusal: 0 }
  #timer: NodeJS.Timeout | undefined
  #storing: Promise<void> | undefined
  #attempts = 0
  #isClosed = false

  constructor(store: Pick<AuditTrailStore, 'add'>, observer: Observer | undefined, log: FastifyBaseLogger) {
    this.#store = store
    this.#observer = observer
    this.#reportFailure = outageLog(log)
  }

  /** Stores the record soon, with others. It is lost if too many of its kind wait already, of this client or of all. */
  add(record: AuditRecord, client: string): void {
    const kind = record.outcome === 'refused' ? 'refusal' : 'change'
    const { ofAll, ofClient } = places[kind]
    const key = `${kind} ${client}`
    const count = this.#ofClient.get(key) ?? 0
    const isFull = this.#ofAll[kind] >= ofAll || count >= ofClient
    if (this.#isClosed || isFull) return this.lose([record], this.#isClosed ? 'closed' : 'queueFull')
    this.#ofClient.set(key, count + 1)
    this.#ofAll[kind] += 1
    this.#waiting.push({ record, client: key, kind })
    this.#schedule(gatherMs)
  }

  /** Stores what waits, for at most two seconds. */
  async close(): Promise<void> {
    clearTimeout(this.#timer)
    this.#isClosed = true
    await waitAtMost(this.#storeAll(), closeMs)
    this.lose(this.#records(this.#waiting), 'closed')
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
        await this.#store.add(this.#records(batch))
        this.#attempts = 0
      } catch (error) {
        this.#reportFailure(error, 'audit-trail: records cannot be stored')
        this.#attempts += 1
        if (this.#attempts < maxAttempts) return
        this.#attempts = 0
        this.lose(this.#records(batch), 'storeFailed')
      }
      this.#remove(batch)
    }
  }

  /** Counts records that are lost. */
  lose(records: readonly Pick<AuditRecord, 'outcome'>[], reason: 'queueFull' | 'storeFailed' | 'closed'): void {
    if (records.length === 0) return
    for (const { outcome } of records) this.#observer?.count(lost, { reason, outcome })
    this.#reportFailure(new Error(`Records were lost: ${reason}.`), 'audit-trail: records are lost')
  }

  #remove(batch: readonly Waiting[]) {
    this.#waiting.splice(0, batch.length)
    for (const { client, kind } of batch) {
      this.#ofAll[kind] -= 1
      const count = (this.#ofClient.get(client) as number) - 1
      if (count > 0) this.#ofClient.set(client, count)
      else this.#ofClient.delete(client)
    }
  }

  // The number of repetitions may be known before the record itself is stored.
  #records(waiting: readonly Waiting[]) {
    return [...new Map(waiting.map(({ record }) => [record.id, record])).values()]
  }
}
