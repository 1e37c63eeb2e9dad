import type { AttemptResult } from '../send/attempt-result.ts'
import type { WebhookSender } from '../send/sender.ts'
import { liveKeys, type Subscription } from '../store/subscription.ts'

/** What one attempt sends, and to which subscription. */
export interface AttemptInput {
  readonly subscription: Subscription
  /** The `webhook-id`. */
  readonly id: string
  readonly body: string
  /** Aborts the attempt. */
  readonly signal: AbortSignal
}

/** Makes one attempt, signed with the live keys of the subscription. Rejects if this process aborted it: then the receiver did not fail. */
export async function signedAttempt(
  sender: Pick<WebhookSender, 'send'>,
  { subscription, id, body, signal }: AttemptInput,
  now: number
): Promise<AttemptResult> {
  const keys = liveKeys(subscription, now).map(({ key }) => key)
  const result = await sender.send({ url: subscription.url, keys, id, body }, signal)
  if (result.failure !== undefined) signal.throwIfAborted()
  return result
}
