import { hash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { withDeadline } from '@concordat/plugin-kit/deadline'
import { loginsOverloaded, passwordResetsExceeded } from './errors.ts'
import { canonicalUsername } from './login-attempts.ts'
import type { Settings } from './options.ts'

// Each message has a link that is valid for an hour, so a user whose limit others used up has five of them.
const limit = { limit: 5, windowMs: 3_600_000 }
const [maxRunning, maxMs] = [100, 60_000]
const onTimeout = () =>
  new Error(`token-issuing: a password reset did not end within ${maxMs / 1000} s. Limit how long its message may take.`)

/** Creates the function that counts a request for a password reset, and then begins it. */
export function passwordResets({ stores, onError }: Settings) {
  let running = 0

  async function count(username: string) {
    // Hashed, so that the store contains no user input.
    const waitMs = await stores.loginAttempts.take(`reset ${hash('sha256', canonicalUsername(username), 'base64url')}`, limit, Date.now())
    if (waitMs > 0) throw passwordResetsExceeded(waitMs)
  }

  return async (username: string, work: () => Promise<void>): Promise<void> => {
    if (running >= maxRunning) throw loginsOverloaded()
    running += 1
    const free = () => void (running -= 1)
    try {
      await count(username)
    } catch (error) {
      free()
      throw error
    }
    run(work).catch(onError).finally(free)
  }
}

async function run(work: () => Promise<void>) {
  // After the response, whose time must not depend on the work.
  await setImmediate()
  await withDeadline(work(), { ms: maxMs, onTimeout })
}
