import { outageLog } from '@concordat/plugin-kit/outage-log'
import { sweepRegularly } from '@concordat/plugin-kit/sweep'
import { contractLater } from '@concordat/plugin-kit/wiring'
import type { FastifyInstance } from 'fastify'
import { placeOf } from './places.ts'
import type { VersionUsageStore, VersionUse } from './usage-store.ts'

/** How often a process reports its counts. */
const reportMs = 10_000
/** How often a process that has counted nothing says so. */
const idleReportMs = 3_600_000
// Per process and day. Further clients, and those with longer names, count as unknown, so that neither the memory nor the table grows with the names that clients choose.
const maxClients = 1000
const maxClientLength = 256
const dayMs = 86_400_000

interface Count {
  requests: number
  lastUsedAt: number
}

/** Counts each request to an operation of a version, with its client application. */
export function countUses(instance: FastifyInstance, store: VersionUsageStore): void {
  const clients = contractLater(instance, 'clients')
  const reportOutage = outageLog(instance.log)
  const counter = new UsageCounter(store, (error) => reportOutage(error, 'versioning: the use of versions cannot be stored'))
  const sweep = store.sweep?.bind(store)
  if (sweep) sweepRegularly(instance, 'versioning: old use of versions was not deleted', (maximum) => sweep(Date.now(), maximum))
  instance.addHook('onReady', async () => counter.start())
  instance.addHook('onClose', () => counter.close())
  instance.addHook('onResponse', (request, _reply, done) => {
    const place = request.is404 || request.routeOptions.config.operational === true ? undefined : placeOf(request)
    if (place !== undefined) counter.count(place.version.name, clients()?.identityOf(request)?.client)
    done()
  })
}

/** Counts the requests of each client to each version, and reports the counts to the store. */
class UsageCounter {
  readonly #store: VersionUsageStore
  readonly #onError: (error: unknown) => void
  #timer: NodeJS.Timeout | undefined
  #reportedAt = Number.NEGATIVE_INFINITY
  /** The day of the counts, in days since the Unix epoch. */
  #day = 0
  readonly #counts = new Map<string, Map<string | null, Count>>()
  readonly #clients = new Set<string>()
  /** What is to be reported, by day, version and client. */
  readonly #uses = new Map<string, VersionUse>()
  #report: Promise<void> = Promise.resolve()

  constructor(store: VersionUsageStore, onError: (error: unknown) => void) {
    this.#store = store
    this.#onError = onError
  }

  start(): void {
    this.#timer = setInterval(() => void this.#send(Date.now() - this.#reportedAt >= idleReportMs), reportMs).unref()
  }

  count(version: string, application: string | undefined): void {
    const now = Date.now()
    const day = Math.floor(now / dayMs)
    if (day !== this.#day) this.#begin(day)
    const isShort = application !== undefined && application.length <= maxClientLength
    const client = isShort && this.#isKnown(application) ? application : null
    const clients = this.#counts.get(version) ?? new Map<string | null, Count>()
    const count = clients.get(client)
    if (count === undefined) this.#counts.set(version, clients.set(client, { requests: 1, lastUsedAt: now }))
    else {
      count.requests += 1
      count.lastUsedAt = now
    }
  }

  /** Reports what is left. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#send()
  }

  #begin(day: number) {
    this.#gather()
    this.#clients.clear()
    this.#day = day
  }

  #isKnown(client: string) {
    if (this.#clients.size < maxClients) this.#clients.add(client)
    return this.#clients.has(client)
  }

  #gather() {
    const day = new Date(this.#day * dayMs).toISOString().slice(0, 10)
    for (const [version, clients] of this.#counts) for (const [client, count] of clients) this.#add({ version, client, day, ...count })
    this.#counts.clear()
  }

  #add(use: VersionUse) {
    const key = JSON.stringify([use.version, use.client, use.day])
    const { requests = 0, lastUsedAt = 0 } = this.#uses.get(key) ?? {}
    this.#uses.set(key, { ...use, requests: use.requests + requests, lastUsedAt: Math.max(use.lastUsedAt, lastUsedAt) })
  }

  // One report after the other, so that a slow store has one at a time.
  #send(alsoWithoutUses = false) {
    this.#report = this.#sendAfter(this.#report, alsoWithoutUses)
    return this.#report
  }

  async #sendAfter(earlier: Promise<void>, alsoWithoutUses: boolean) {
    await earlier
    this.#gather()
    const uses = [...this.#uses.values()]
    if (uses.length === 0 && !alsoWithoutUses) return
    const now = Date.now()
    this.#uses.clear()
    try {
      await this.#store.add(uses, now)
      this.#reportedAt = now
    } catch (error) {
      for (const use of uses) this.#add(use)
      this.#onError(error)
    }
  }
}
