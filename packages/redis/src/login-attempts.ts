import type { LoginAttemptStore } from '@concordat/token-issuing'
import { type Redis, type StoreOptions, script, spreadKeysOf } from './redis.ts'

// Shares are fractions of a millisecond and their sums are not exact, so less than one millisecond does not count as a wait. Numbers are
// returned as text with all digits, because Redis truncates numbers.
const take = script(`
local now, share, window = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local next = math.max(tonumber(redis.call('GET', ARGV[1]) or 0), now) + share
local wait = next - now - window
if wait >= 1 then return string.format('%.17g', wait) end
redis.call('SET', ARGV[1], string.format('%.17g', next), 'PX', math.ceil(next - now))
return '0'
`)

const giveBack = script(`
local forgivenAt = redis.call('GET', ARGV[1])
if forgivenAt then redis.call('SET', ARGV[1], string.format('%.17g', forgivenAt - ARGV[2]), 'KEEPTTL') end
`)

/**
 * Creates a store that counts sign-in attempts in Redis for all processes together. A key has the time at which all its attempts are forgiven (GCRA,
 * ITU-T I.371), and Redis deletes it then.
 */
export function redisLoginAttemptStore(redis: Redis, options: StoreOptions = {}): LoginAttemptStore {
  const keyOf = spreadKeysOf(options, 'login-attempts')

  return {
    async take(key, { limit, windowMs }, now) {
      return Number(await redis.run(take, [keyOf(key), ...[now, windowMs / limit, windowMs].map(String)]))
    },
    async giveBack(key, { limit, windowMs }) {
      await redis.run(giveBack, [keyOf(key), String(windowMs / limit)])
    }
  }
}
