import type { Redis } from './redis.ts'
import { script } from './script.ts'

const write = script(`redis.call('SET', ARGV[1], '', 'PX', 1000)`)

/**
 * Rejects when Redis cannot be reached or refuses writes, for example because its memory is full or it is a replica. For readiness checks: it writes
 * one key, which expires after a second.
 */
export async function checkRedis(redis: Redis): Promise<void> {
  await redis.run(write, ['{concordat:check}'])
}
