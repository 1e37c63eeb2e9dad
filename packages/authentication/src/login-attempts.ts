import { hash } from 'node:crypto'
import { isIPv6 } from 'node:net'
import { loginAttemptsExceeded } from './issuing-errors.ts'
import type { AttemptLimit, LoginAttemptStore } from './login-attempt-store.ts'
import { wholeNumber } from './whole-number.ts'

/** How many failed attempts are let through, and in what time they are forgiven again, one after another. */
export interface LoginAttemptOptions {
  /** For one user name, from wherever they come and whether or not it exists. @default { limit: 10, windowSeconds: 900 } */
  readonly perAccount?: { readonly limit: number; readonly windowSeconds: number } | undefined
  /** From one address; of IPv6 from one /64. @default { limit: 100, windowSeconds: 900 } */
  readonly perAddress?: { readonly limit: number; readonly windowSeconds: number } | undefined
}

/** Counts attempts to sign in before they are judged, so that many at once are counted too. */
export interface LoginAttempts {
  /**
   * Counts one attempt. Raises LOGIN_ATTEMPTS_EXCEEDED (429), with the same texts and headers whether the account or the address has
   * had too many. The answer takes the attempt back: for those that were no guess.
   */
  count(username: string, address: string | undefined, now: number): Promise<() => Promise<void>>
}

/** Throws a `TypeError` of one line for limits that make no sense. */
export function loginAttempts(store: LoginAttemptStore, options: LoginAttemptOptions = {}): LoginAttempts {
  const perAccount = limitOf('perAccount', options.perAccount ?? { limit: 10, windowSeconds: 900 })
  const perAddress = limitOf('perAddress', options.perAddress ?? { limit: 100, windowSeconds: 900 })

  return {
    async count(username, address, now) {
      const wanted: (readonly [string, AttemptLimit])[] = [[accountKey(username), perAccount]]
      if (address !== undefined) wanted.unshift([`address ${networkOf(address)}`, perAddress])
      for (const entry of wanted) {
        const waitMilliseconds = await store.take(...entry, now)
        if (waitMilliseconds > 0) throw loginAttemptsExceeded(waitMilliseconds)
      }
      return async () => void (await Promise.all(wanted.map((entry) => store.giveBack(...entry))))
    }
  }
}

function limitOf(name: string, { limit, windowSeconds }: { readonly limit: number; readonly windowSeconds: number }): AttemptLimit {
  return {
    limit: wholeNumber(`${name}.limit`, limit, 1, 10_000),
    windowMilliseconds: wholeNumber(`${name}.windowSeconds`, windowSeconds, 1, 86_400) * 1000
  }
}

// Hashed, so that no store holds what people typed; spellings that a directory may take for one name are counted as one.
function accountKey(username: string) {
  return `account ${hash('sha256', username.normalize('NFKC').trim().toLowerCase(), 'base64url')}`
}

/** Whoever has one IPv6 address has the other 2⁶⁴ of its network. */
function networkOf(address: string) {
  const bare = address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '')
  if (!isIPv6(bare)) return bare
  const [head = '', tail] = new URL(`http://[${bare}]`).hostname.slice(1, -1).split('::')
  const before = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  const groups = [...before, ...Array.from({ length: 8 - before.length - after.length }, () => '0'), ...after]
  return `${groups.slice(0, 4).join(':')}::/64`
}
