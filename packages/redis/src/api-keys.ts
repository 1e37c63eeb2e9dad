import type { ApiKeyRecord, ApiKeyStore } from '@concordat/authentication'
import { type Redis, type StoreOptions, spreadKeysOf } from './redis.ts'
import { script } from './script.ts'

const find = script("return redis.call('GET', ARGV[1])")

const add = script(`
if redis.call('SET', ARGV[1], ARGV[2], 'NX') == false then return 0 end
if ARGV[3] ~= '' then redis.call('PEXPIREAT', ARGV[1], ARGV[3]) end
return 1
`)

const remove = script(`redis.call('DEL', ARGV[1])`)

/**
 * API keys in Redis 6.2 or later, which forgets each when its time is over; one without an end stays. The memory of that Redis has to
 * be set to `noeviction`, and what it holds has to be kept on disk, or clients lose their keys.
 */
export function redisApiKeys(redis: Redis, { prefix = 'concordat' }: StoreOptions = {}): ApiKeyStore {
  const keyOf = spreadKeysOf(prefix, 'api-keys')

  return {
    async find(id) {
      const record = await redis.run(find, [keyOf(id)])
      return typeof record === 'string' ? (JSON.parse(record) as ApiKeyRecord) : undefined
    },
    async add({ id, secretHash, client, permissions, expiresAt }) {
      const record = JSON.stringify({ id, secretHash, client, permissions, expiresAt })
      const added = await redis.run(add, [keyOf(id), record, expiresAt === undefined ? '' : String(Math.ceil(expiresAt))])
      if (added !== 1) throw new Error('redis: there is an API key with this id already.')
    },
    async remove(id) {
      await redis.run(remove, [keyOf(id)])
    }
  }
}
