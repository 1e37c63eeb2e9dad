import { createHmac, hash, randomBytes } from 'node:crypto'

/**
 * An opaque refresh token, as `rt_` and 72 characters of base64url: 16 bytes that all tokens of one family share and nobody else
 * knows, 32 bytes of the token's own, and 6 that tell a mistyped token from one that was issued.
 */
export interface RefreshToken {
  readonly text: string
  /** What the family is stored under: a hash, so that a stolen database holds no token. */
  readonly handle: string
  /** What tells this token from the others of its family: a hash too. */
  readonly secret: string
}

const form = /^rt_[\w-]{72}$/
const handleBytes = 16
const secretBytes = 32
const checkBytes = 6

/** The first token of a family. */
export function newRefreshToken(): RefreshToken {
  return tokenOf(randomBytes(handleBytes), randomBytes(secretBytes))
}

/** Reads a token that a client sent; `undefined` for what can never have been issued. */
export function readRefreshToken(text: string): RefreshToken | undefined {
  if (!form.test(text)) return undefined
  const bytes = Buffer.from(text.slice(3), 'base64url')
  const token = tokenOf(bytes.subarray(0, handleBytes), bytes.subarray(handleBytes, handleBytes + secretBytes))
  // 54 bytes are 72 characters exactly, so a token has one spelling; what is compared here is no secret.
  return token.text === text ? token : undefined
}

/**
 * The token that replaces this one. It is computed and not stored: whoever comes again within the grace is given the same one,
 * and only who has the key can tell it.
 */
export function successorOf({ text }: RefreshToken, key: string): RefreshToken {
  const handle = Buffer.from(text.slice(3), 'base64url').subarray(0, handleBytes)
  return tokenOf(handle, createHmac('sha256', key).update(`refresh token after ${text}`).digest())
}

function tokenOf(handle: Buffer, secret: Buffer): RefreshToken {
  const both = Buffer.concat([handle, secret])
  const check = hash('sha256', both, 'buffer').subarray(0, checkBytes)
  return {
    text: `rt_${Buffer.concat([both, check]).toString('base64url')}`,
    handle: hash('sha256', Buffer.concat([Buffer.from('handle'), handle]), 'base64url'),
    secret: hash('sha256', Buffer.concat([Buffer.from('secret'), secret]), 'base64url')
  }
}
