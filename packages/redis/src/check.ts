import { keysOf, type Redis, type StoreOptions } from './redis.ts'
import { script } from './script.ts'

const write = script(`redis.call('SET', ARGV[1], '', 'PX', 1000)`)

/**
 * Rejects when Redis cannot be reached or refuses writes, for example because its memory is full or it is a replica. For readiness checks: it writes
 * one key under the prefix, which expires after a second.
 */
export async function checkRedis(redis: Redis, options: StoreOptions = {}): Promise<void> {
  const key = keysOf(options, 'check')
  await redis.run(write, [key])
}
