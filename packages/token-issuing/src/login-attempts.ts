import { hash } from 'node:crypto'
import { clientNetwork } from '@concordat/plugin-kit/links'
import { describeOptions, duration, group, integer, type SettingsOf } from '@concordat/plugin-kit/options'
import { loginAttemptsExceeded } from './errors.ts'
import type { AttemptLimit, LoginAttemptStore } from './login-attempt-store.ts'

function limitOf(limit: number) {
  return group(
    describeOptions('token-issuing', {
      limit: integer({ default: limit, min: 1, max: 10_000 }),
      windowSeconds: duration({ default: 900, min: 1, max: 86_400 })
    })
  )
}

/** The limits of failed attempts. */
export const loginAttemptOptions = describeOptions('token-issuing', {
  /** For one username from one address or IPv6 /64 network: `{ limit: 10, windowSeconds: 900 }`. Operators lower it while passwords are guessed. */
  perAccountAndAddress: limitOf(10),
  /** For one username, existing or not, from all addresses: `{ limit: 100, windowSeconds: 900 }`. Higher, so that guesses of others lock no user out. Operators lower it while passwords are guessed. */
  perAccount: limitOf(100),
  /** For one address or IPv6 /64 network: `{ limit: 100, windowSeconds: 900 }`. Operators lower it while passwords are guessed, and raise it for many users behind one address. */
  perAddress: limitOf(100)
})

/**
 * Creates a function that counts a sign-in attempt before it is verified, so that concurrent attempts count too. It throws LOGIN_ATTEMPTS_EXCEEDED
 * (429), with the same message and headers for the account and for the address. Call what it returns to remove the attempt again when it was not a guess.
 */
export function loginAttempts(store: LoginAttemptStore, limits: SettingsOf<(typeof loginAttemptOptions)['members']>) {
  return async (username: string, address: string | undefined, now: number) => {
    // Hashed, so that the store contains no user input.
    const account = hash('sha256', username, 'base64url')
    const network = address === undefined ? '' : clientNetwork(address)
    // The narrowest limit before that of the account: one address alone cannot use up the attempts of all.
    const wanted: readonly (readonly [string, AttemptLimit])[] = [
      ...(network === '' ? [] : [[`address ${network}`, limits.perAddress] as const]),
      [`account ${account} ${network}`, limits.perAccountAndAddress],
      [`account ${account}`, limits.perAccount]
    ]
    for (const entry of wanted) {
      const waitMs = await store.take(...entry, now)
      if (waitMs > 0) throw loginAttemptsExceeded(waitMs)
    }
    return async () => void (await Promise.all(wanted.map((entry) => store.giveBack(...entry))))
  }
}

/**
 * Returns the one spelling of a username for all that differ only in case, in width or in surrounding spaces: Unicode NFKC in lower case. Attempts are
 * counted and users are found by it, so no spelling of a name has attempts of its own.
 */
export function canonicalUsername(username: string): string {
  const folded = username.normalize('NFKC').replaceAll(/./gsu, (character) => character.toLowerCase())
  return folded.normalize('NFKC').trim()
}
