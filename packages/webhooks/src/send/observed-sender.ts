import type { Gauges, Observer } from '@concordat/plugin-wiring'
import type { WebhookStore } from '../store/store.ts'
import { outcomeOf } from './attempt-result.ts'
import type { WebhookSender } from './sender.ts'

const duration = { name: 'concordat.webhook.attempt.duration', unit: 's', description: 'Duration of the attempts of webhook deliveries.' }
const paused = {
  name: 'concordat.webhook.paused_receivers',
  unit: '{receiver}',
  description: 'Receivers whose deliveries wait, at most 10,000.'
}
const maxCounted = 10_000

/** Returns a sender whose attempts are measured and have a span; without an observer, the sender itself. */
export function observedSender(sender: WebhookSender, observer: Observer | undefined): WebhookSender {
  if (observer === undefined) return sender
  return {
    ...sender,
    async send(message, signal) {
      const attempt = { name: 'webhook attempt', kind: 'client' } as const
      const result = await observer.run(attempt, async (headers) => sender.send({ ...message, headers }, signal))
      const { durationMilliseconds, failure, statusCode } = result
      const outcome = failure !== undefined && signal?.aborted === true ? 'aborted' : outcomeOf(result)
      const kind = outcome === 'delivered' ? undefined : String(failure ?? statusCode)
      observer.record(duration, durationMilliseconds / 1000, { outcome, ...(kind !== undefined && { 'error.type': kind }) })
      return result
    }
  }
}

/** Returns what operators can read of the receivers. */
export function receiverGauges(store: WebhookStore): Gauges {
  return {
    metrics: [paused],
    async read() {
      const count = await store.pausedReceivers?.(maxCounted)
      return count === undefined ? [] : [{ metric: paused, value: count }]
    }
  }
}
