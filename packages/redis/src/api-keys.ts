import type { ApiKeyRecord, ApiKeyStore } from '@concordat/authentication'
import { type Redis, type StoreOptions, script, spreadKeysOf } from './redis.ts'

const find = script("return redis.call('GET', ARGV[1])")

const add = script(`
if redis.call('SET', ARGV[1], ARGV[2], 'NX') == false then return 0 end
if ARGV[3] ~= '' then redis.call('PEXPIREAT', ARGV[1], ARGV[3]) end
return 1
`)

const remove = script(`redis.call('DEL', ARGV[1])`)

/**
 * Creates a store of API keys in Redis 6.2 or later. Redis deletes each key when it expires, and retains keys without an expiry. Redis must
 * be set to `noeviction` and must persist its data on disk, or clients lose their keys.
 */
export function redisApiKeyStore(redis: Redis, options: StoreOptions = {}): ApiKeyStore {
  const keyOf = spreadKeysOf(options, 'api-keys')

  return {
    async find(id) {
      const record = await redis.run(find, [keyOf(id)])
      return typeof record === 'string' ? (JSON.parse(record) as ApiKeyRecord) : undefined
    },
    async add({ id, secretHash, client, permissions, expiresAt }) {
      const record = JSON.stringify({ id, secretHash, client, permissions, expiresAt })
      const added = await redis.run(add, [keyOf(id), record, expiresAt === undefined ? '' : String(Math.ceil(expiresAt))])
      if (added !== 1) throw new Error('redis: an API key with this id already exists. Create the key again, with a new id.')
    },
    async remove(id) {
      await redis.run(remove, [keyOf(id)])
    }
  }
}
