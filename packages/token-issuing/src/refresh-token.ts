import { createHmac, hash, randomBytes } from 'node:crypto'

/** `rt_` and 54 bytes in base64url: 16 secret bytes that all tokens of a family share, 32 of this token, and 6 that detect a mistyped token. */
export interface RefreshToken {
  readonly text: string
  /** The hash by which the family is stored, so that a stolen database contains no token. */
  readonly handle: string
  /** The hash that distinguishes this token from the others of its family. */
  readonly secret: string
}

const form = /^rt_[\w-]{72}$/
const handleBytes = 16
const secretBytes = 32
const checkBytes = 6

/** Returns the first token of a new family. */
export function newRefreshToken(): RefreshToken {
  return tokenOf(randomBytes(handleBytes), randomBytes(secretBytes))
}

/** Reads a token that a client sent; returns `undefined` for a string that cannot have been issued. */
export function readRefreshToken(text: string): RefreshToken | undefined {
  if (!form.test(text)) return undefined
  const bytes = Buffer.from(text.slice(3), 'base64url')
  const token = tokenOf(bytes.subarray(0, handleBytes), bytes.subarray(handleBytes, handleBytes + secretBytes))
  // 54 bytes are exactly 72 characters, so a token has one spelling. The compared check bytes are not secret.
  return token.text === text ? token : undefined
}

/** Returns the token that replaces this one. It is computed, not stored: a repetition gets the same token, and only the holder of the key can do it. */
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
