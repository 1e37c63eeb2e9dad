import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { ApiKeyRecord } from './api-key-store.ts'

/** What is known of a new key's holder. */
export interface NewApiKey {
  /** The client application that the key names. */
  readonly client: string
  /** What it may do: permissions, no roles. Only those count that the plugin's option `apiKeys.permissions` lists. */
  readonly permissions: readonly string[]
  /** In milliseconds since 1970; without it the key has no end. */
  readonly expiresAt?: number | undefined
}

// Prefix, id, secret and a checksum, by which a leaked key is found in a text, and a mistyped one costs no lookup.
const shape = /^ak_([\w-]{8})_([\w-]{43})_([0-9a-f]{8})$/

/**
 * Makes an API key: `key` is for the client, once; `record` is for the store. The secret has 256 bits, so a fast hash keeps it.
 */
export function createApiKey({ client, permissions, expiresAt }: NewApiKey): { readonly key: string; readonly record: ApiKeyRecord } {
  const id = randomBytes(6).toString('base64url')
  const body = `ak_${id}_${randomBytes(32).toString('base64url')}`
  const key = `${body}_${checksum(body)}`
  return { key, record: { id, secretHash: hashOf(key), client, permissions, expiresAt } }
}

/** The id in a key, or `undefined` for a text that no key looks like. */
export function apiKeyId(key: string): string | undefined {
  const [, id] = shape.exec(key) ?? []
  return id !== undefined && checksum(key.slice(0, -9)) === key.slice(-8) ? id : undefined
}

/** Whether the key is the one of the record, and its time is not over. Takes the same time wherever they differ. */
export function isKeyOf(key: string, { secretHash, expiresAt }: ApiKeyRecord, now: number): boolean {
  const expected = Buffer.from(secretHash, 'base64url')
  const given = Buffer.from(hashOf(key), 'base64url')
  return expected.length === given.length && timingSafeEqual(expected, given) && now < (expiresAt ?? Number.POSITIVE_INFINITY)
}

function checksum(text: string) {
  return crc32(text).toString(16).padStart(8, '0')
}

function hashOf(key: string) {
  return hash('sha256', key, 'base64url')
}
