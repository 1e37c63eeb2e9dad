import { createHmac, timingSafeEqual } from 'node:crypto'
import type { TokenUser } from './options.ts'

/** What a valid token says: for which user it is, until when, and which hash of a password it replaces. */
interface PasswordReset {
  readonly subject: string
  readonly expiresAt: number
  /** Returns whether the user still has the password, or no password, for which the token was issued. */
  readonly isFor: (user: TokenUser) => boolean
}

const form = /^pr_[\w-]{74,}$/
const [timeBytes, stateBytes, macBytes] = [6, 16, 32]

/**
 * Returns `pr_` and in base64url: the time at which the token expires, a mark of the stored hash, the id of the user, and their HMAC. No store has it, and a
 * new password ends it.
 */
export function passwordResetOf(user: TokenUser, expiresAt: number, key: string): string {
  const time = Buffer.alloc(timeBytes)
  time.writeUIntBE(expiresAt, 0, timeBytes)
  const content = Buffer.concat([time, stateOf(user, key), Buffer.from(user.id)])
  return `pr_${Buffer.concat([content, macOf(content, key)]).toString('base64url')}`
}

/** Reads a token that a client sent; returns `undefined` for a text that was not issued with one of the keys. */
export function readPasswordReset(text: string, keys: readonly string[]): PasswordReset | undefined {
  if (!form.test(text)) return undefined
  const bytes = Buffer.from(text.slice(3), 'base64url')
  const content = bytes.subarray(0, -macBytes)
  const key = keys.find((candidate) => timingSafeEqual(macOf(content, candidate), bytes.subarray(-macBytes)))
  if (key === undefined) return undefined
  return {
    subject: content.toString('utf8', timeBytes + stateBytes),
    expiresAt: content.readUIntBE(0, timeBytes),
    isFor: (user) => timingSafeEqual(stateOf(user, key), content.subarray(timeBytes, timeBytes + stateBytes))
  }
}

// A user without a password may be a row with NULL.
function stateOf({ passwordHash }: TokenUser, key: string) {
  return createHmac('sha256', key)
    .update(`password hash ${passwordHash ?? ''}`)
    .digest()
    .subarray(0, stateBytes)
}

function macOf(content: Buffer, key: string) {
  return createHmac('sha256', key).update('password reset ').update(content).digest()
}
