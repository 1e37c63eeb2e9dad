import type { Gauges } from '@concordat/plugin-kit/observer'
import type { WebhookStore } from '../store/store.ts'

const paused = {
  name: 'concordat.webhook.paused_receivers',
  unit: '{receiver}',
  description: 'Receivers whose deliveries wait, at most 10,000.'
}
const maxCounted = 10_000

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
