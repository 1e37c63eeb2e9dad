import type { Observer } from '@concordat/plugin-kit/observer'
import { outcomeOf } from './attempt-result.ts'
import type { WebhookSender } from './sender.ts'

const duration = { name: 'concordat.webhook.attempt.duration', unit: 's', description: 'Duration of the attempts of webhook deliveries.' }
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
