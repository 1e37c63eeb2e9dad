import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { describeOptions, type OptionsOf, required, value } from '@concordat/plugin-kit/options'
import { isTenant } from '@concordat/plugin-kit/wiring'
import type { ApiKeyRecord } from './api-key-store.ts'

const newApiKeyOptions = describeOptions('authentication', {
  /** The client application that the key identifies. */
  client: required(value<string>()),
  /** The permissions of the client; roles are not allowed. Only permissions in the plugin's option `apiKeys.permissions` take effect. */
  permissions: required(value<readonly string[]>()),
  /** The tenant of the client: 1 to 64 characters of `A-Z`, `a-z`, `0-9`, `_` and `-`. Needed for routes with a tenant. */
  tenant: value<string>(),
  /** The time at which the key expires, in milliseconds since the Unix epoch; without it, the key never expires. */
  expiresAt: value<number>()
})

/** The client and permissions of a new API key. */
interface NewApiKey extends OptionsOf<typeof newApiKeyOptions> {}

// Prefix, id, secret and checksum: scanners can find a leaked key in a text, and a mistyped key costs no lookup.
const shape = /^ak_([\w-]{8})_([\w-]{43})_([0-9a-f]{8})$/

/** Creates an API key: show `key` to the client once, and store `record`. The secret has 256 bits, so a fast hash protects it. */
export function createApiKey(options: NewApiKey): { readonly key: string; readonly record: ApiKeyRecord } {
  const { client, permissions, tenant, expiresAt } = newApiKeyOptions.read(options)
  if (tenant !== undefined && !isTenant(tenant))
    throw new TypeError('authentication: options.tenant must be 1 to 64 characters of A-Z, a-z, 0-9, _ and -.')
  const id = randomBytes(6).toString('base64url')
  const body = `ak_${id}_${randomBytes(32).toString('base64url')}`
  const key = `${body}_${checksum(body)}`
  return { key, record: { id, secretHash: hashOf(key), client, permissions, tenant, expiresAt } }
}

/** Returns the id in an API key, or `undefined` for a string that does not have the form of an API key. */
export function apiKeyId(key: string): string | undefined {
  const [, id] = shape.exec(key) ?? []
  return id !== undefined && checksum(key.slice(0, -9)) === key.slice(-8) ? id : undefined
}

/** Returns whether the API key belongs to the record and has not expired. The comparison takes constant time. */
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
