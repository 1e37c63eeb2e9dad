import type { Handler, Outcome, Transaction } from '@concordat/work-queue'
import type { Emission } from '../emit/emission.ts'
import { deliveryQueue, enqueueWake, type ProbeJob, promoteDeliveries, type WakeJob } from '../emit/queues.ts'
import type { Settings } from '../options.ts'
import { type Delivery, isStarted } from '../store/delivery.ts'
import { type Outage, type Receiver, receiverOf } from '../store/outage.ts'
import { pagesOf, type WebhookStore } from '../store/store.ts'
import type { Subscription } from '../store/subscription.ts'

// A probe is one of the oldest deliveries of each subscription.
const examined = 50
const checkMs = 10_000
// A probe without a result after this time is replaced by the next delivery.
const probeMs = 90_000

interface Candidate {
  readonly id: string
  readonly subscription: Subscription
  readonly deliveries: readonly [Delivery, ...Delivery[]]
}

/**
 * Returns the job handler that starts the probes of a receiver during an outage, one after the other: the oldest due delivery, or the oldest if none is due.
 * Its own job sends it, so that it is never sent twice at the same time and no ordered delivery overtakes another.
 */
export function probeHandler(settings: Settings, emission: Pick<Emission, 'inTransaction'>): Handler {
  const { store, queue, now } = settings

  /** Returns the outcome that waits, unless the outage has changed since it was read: then nothing else would end the wait. */
  function waiting(outage: Outage, milliseconds: number): Outcome {
    async function write(transaction: Transaction | undefined) {
      const current = await store.outage(outage, transaction)
      if (current?.nextProbeAt !== outage.nextProbeAt || current.probe?.id !== outage.probe?.id)
        await queue.promote(deliveryQueue, [outage.jobId], transaction)
    }
    return { retryInSeconds: milliseconds / 1000, write }
  }

  function isLate({ nextAttemptAt = 0 }: Delivery) {
    return Number(nextAttemptAt > now())
  }

  async function candidates(receiver: Receiver) {
    const found: Candidate[] = []
    for await (const subscription of subscriptionsTo(store, receiver)) {
      const page = { status: 'pending', oldestFirst: true, limit: examined } as const
      const [oldest, ...others] = (await store.deliveriesOf(subscription.id, page)).filter((delivery) => isStarted(delivery, now()))
      if (oldest === undefined) continue
      if (subscription.ordered) found.push({ id: subscription.id, subscription, deliveries: [oldest, ...others] })
      else for (const delivery of [oldest, ...others]) found.push({ id: delivery.id, subscription, deliveries: [delivery] })
    }
    return found.toSorted(({ deliveries: [one] }, { deliveries: [other] }) => isLate(one) - isLate(other) || (one.id < other.id ? -1 : 1))
  }

  async function choose(outage: Outage, { id, subscription, deliveries }: Candidate) {
    return emission.inTransaction(async (transaction) => {
      const probe = { id, chosenAt: now() }
      const withProbe = (current?: Outage) => (current?.jobId === outage.jobId ? { ...current, probe, isProbed: true } : current)
      const chosen = await store.changeOutage(outage, withProbe, transaction)
      if (chosen?.probe === probe) await promoteDeliveries(queue, subscription, deliveries, transaction)
      return chosen
    })
  }

  async function end(outage: Outage): Promise<Outcome> {
    await emission.inTransaction(async (transaction) => {
      await store.changeOutage(outage, (current) => (current?.jobId === outage.jobId ? undefined : current), transaction)
      await enqueueWake(queue, outage, transaction)
    })
    return { done: true }
  }

  return async ({ id, payload }) => {
    const outage = await store.outage((payload as ProbeJob).probed)
    if (outage === undefined || outage.jobId !== id) return { done: true }
    if (outage.nextProbeAt > now()) return waiting(outage, outage.nextProbeAt - now())
    const { probe } = outage
    const [oldest, next = oldest] = await candidates(outage)
    if (oldest === undefined || next === undefined) return end(outage)
    const isUnderWay = probe?.id === oldest.id
    if (isUnderWay && now() - probe.chosenAt < probeMs) return waiting(outage, checkMs)
    const chosen = await choose(outage, isUnderWay ? next : oldest)
    return waiting(chosen ?? outage, checkMs)
  }
}

/** Returns the job handler that starts all deliveries that wait for a receiver. Until the time of their next attempt, a failure does not count. */
export function wakeHandler({ store, queue, now }: Settings): Handler {
  return async ({ payload, signal }) => {
    for await (const subscription of subscriptionsTo(store, (payload as WakeJob).recovered)) {
      for await (const pending of pagesOf(async (page) => store.deliveriesOf(subscription.id, { ...page, status: 'pending' }))) {
        signal.throwIfAborted()
        const started = pending.filter((delivery) => isStarted(delivery, now()))
        await promoteDeliveries(queue, subscription, started, undefined)
      }
    }
    return { done: true }
  }
}

/** Returns the subscriptions that get deliveries at a receiver. */
async function* subscriptionsTo(store: WebhookStore, { owner, origin }: Receiver) {
  for await (const page of pagesOf(async (selection) => store.subscriptionsOf(owner, selection)))
    for (const subscription of page) {
      const { status, verificationJobId } = subscription
      if (status === 'enabled' && verificationJobId === undefined && receiverOf(subscription).origin === origin) yield subscription
    }
}
