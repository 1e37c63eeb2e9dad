import { mock } from 'node:test'
import { verifyWebhook } from '@concordat/webhooks/receiver'

/** Verifies a webhook as at this time. */
export function verifyAt(time: number, ...input: Parameters<typeof verifyWebhook>): ReturnType<typeof verifyWebhook> {
  mock.timers.enable({ apis: ['Date'], now: time })
  try {
    return verifyWebhook(...input)
  } finally {
    mock.timers.reset()
  }
}
