import { hash } from 'node:crypto'
import { isIPv6 } from 'node:net'
import { optionChecks } from '@concordat/plugin-options'
import { loginAttemptsExceeded } from './errors.ts'
import type { AttemptLimit, LoginAttemptStore } from './login-attempt-store.ts'

const check = optionChecks('token-issuing')

/** The limits of failed attempts. Attempts are forgiven one after another over the window. */
export interface LoginAttemptOptions {
  /** The limit for one username from one address or IPv6 /64 network. @default { limit: 10, windowSeconds: 900 } */
  readonly perAccountAndAddress?: { readonly limit: number; readonly windowSeconds: number } | undefined
  /**
   * The limit for one username from all addresses together, whether or not the user exists. It is higher than the limit for one address, so that
   * somebody else's guesses do not lock a user out. @default { limit: 100, windowSeconds: 900 }
   */
  readonly perAccount?: { readonly limit: number; readonly windowSeconds: number } | undefined
  /** The limit for one address, or for one IPv6 /64 network. @default { limit: 100, windowSeconds: 900 } */
  readonly perAddress?: { readonly limit: number; readonly windowSeconds: number } | undefined
}

/** Counts sign-in attempts before they are verified, so that concurrent attempts count too. */
export interface LoginAttempts {
  /**
   * Counts one attempt for a canonical username. Throws LOGIN_ATTEMPTS_EXCEEDED (429), with the same message and headers for the account and for the
   * address. Call the returned function to remove the attempt again when it was not a guess.
   */
  count(username: string, address: string | undefined, now: number): Promise<() => Promise<void>>
}

/** Creates a counter of sign-in attempts. Throws a `TypeError` of one line for invalid limits. */
export function loginAttempts(store: LoginAttemptStore, options: LoginAttemptOptions = {}): LoginAttempts {
  const perAccountAndAddress = limitOf('perAccountAndAddress', options.perAccountAndAddress ?? { limit: 10, windowSeconds: 900 })
  const perAccount = limitOf('perAccount', options.perAccount ?? { limit: 100, windowSeconds: 900 })
  const perAddress = limitOf('perAddress', options.perAddress ?? { limit: 100, windowSeconds: 900 })

  return {
    async count(username, address, now) {
      const account = accountOf(username)
      const network = address === undefined ? '' : networkOf(address)
      // The narrowest limit before that of the account: one address alone cannot use up the attempts of all.
      const wanted: readonly (readonly [string, AttemptLimit])[] = [
        ...(network === '' ? [] : [[`address ${network}`, perAddress] as const]),
        [`account ${account} ${network}`, perAccountAndAddress],
        [`account ${account}`, perAccount]
      ]
      for (const entry of wanted) {
        const waitMs = await store.take(...entry, now)
        if (waitMs > 0) throw loginAttemptsExceeded(waitMs)
      }
      return async () => void (await Promise.all(wanted.map((entry) => store.giveBack(...entry))))
    }
  }
}

function limitOf(name: string, { limit, windowSeconds }: { readonly limit: number; readonly windowSeconds: number }): AttemptLimit {
  return {
    limit: check.integer(`options.attempts.${name}.limit`, limit, 1, 10_000),
    windowMs: check.integer(`options.attempts.${name}.windowSeconds`, windowSeconds, 1, 86_400) * 1000
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

// Hashed, so that the store contains no user input.
function accountOf(canonical: string) {
  return hash('sha256', canonical, 'base64url')
}

/** Returns the address, or the /64 network of an IPv6 address: one host can use all 2⁶⁴ addresses of its network. */
function networkOf(address: string) {
  const bare = address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '')
  if (!isIPv6(bare)) return bare
  const [head = '', tail] = new URL(`http://[${bare}]`).hostname.slice(1, -1).split('::')
  const before = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  const groups = [...before, ...Array.from({ length: 8 - before.length - after.length }, () => '0'), ...after]
  return `${groups.slice(0, 4).join(':')}::/64`
}
