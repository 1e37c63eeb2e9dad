import { randomUUID } from 'node:crypto'
import type { Revocation, RevocationStore } from '@concordat/authentication'
import { keysOf, type Redis, type StoreOptions, script } from './redis.ts'

// Each revocation is a field of one hash. One sorted set numbers them in the order of their changes, another sorts them by their end. The
// name of the numbers changes when Redis has lost them, so that an older cursor is recognized.
const revoke = script(`
local terms, numbers, ends = ARGV[1] .. 'terms', ARGV[1] .. 'numbers', ARGV[1] .. 'ends'
local id, until_, before = ARGV[2] .. ' ' .. ARGV[3], ARGV[5], ARGV[4]
for _, over in ipairs(redis.call('ZRANGEBYSCORE', ends, '-inf', ARGV[6], 'LIMIT', 0, 100)) do
  redis.call('HDEL', terms, over)
  redis.call('ZREM', numbers, over)
  redis.call('ZREM', ends, over)
end
local old = redis.call('HGET', terms, id)
if old then
  local oldBefore, oldUntil = old:match('^(%S+) (%S+)$')
  if tonumber(oldBefore) > tonumber(before) then before = oldBefore end
  if tonumber(oldUntil) > tonumber(until_) then until_ = oldUntil end
end
redis.call('HSET', terms, id, before .. ' ' .. until_)
redis.call('ZADD', numbers, redis.call('INCR', ARGV[1] .. 'number'), id)
redis.call('ZADD', ends, until_, id)
redis.call('PUBLISH', ARGV[7], '')
`)

const read = script(`
redis.call('SET', ARGV[1] .. 'name', ARGV[2], 'NX')
local name = redis.call('GET', ARGV[1] .. 'name')
local since = ARGV[3] == name and ARGV[4] or '0'
local ids = redis.call('ZRANGEBYSCORE', ARGV[1] .. 'numbers', '(' .. since, '+inf')
local found = {}
for _, id in ipairs(ids) do
  found[#found + 1] = id
  found[#found + 1] = redis.call('HGET', ARGV[1] .. 'terms', id)
end
return { name, redis.call('GET', ARGV[1] .. 'number') or '0', found }
`)

/**
 * Creates a store of revocations in Redis 6.2 or later that announces each revocation with PUBLISH. Redis must be set to `noeviction` and must
 * persist its data on disk: a lost revocation has no effect in processes that did not receive its message.
 */
export function redisRevocationStore(redis: Redis, options: StoreOptions = {}): RevocationStore {
  const keys = keysOf(options, 'revocations')
  const channel = `${keys}news`

  return {
    async revoke({ kind, id, issuedBefore = 0, until }: Revocation) {
      await redis.run(revoke, [keys, kind, id, String(issuedBefore), String(until), String(Date.now()), channel])
    },
    async read(cursor = '') {
      const [, known = '', since = '0'] = /^([\da-f-]{36}) (\d{1,15})$/.exec(cursor) ?? []
      const [name, number, found] = (await redis.run(read, [keys, randomUUID(), known, since])) as [string, string, string[]]
      return { cursor: `${name} ${number}`, revocations: revocationsOf(found, Date.now()) }
    },
    subscribe: (wake, lost) => redis.listen(channel, { onMessage: wake, onLost: lost })
  }
}

function revocationsOf(found: readonly string[], now: number): Revocation[] {
  return Array.from({ length: found.length / 2 }, (_, n): Revocation => {
    const [name = '', terms = ''] = found.slice(2 * n, 2 * n + 2)
    const [issuedBefore = 0, until = 0] = terms.split(' ').map(Number)
    const [kind = ''] = name.split(' ', 1)
    const id = name.slice(kind.length + 1)
    return { kind: kind as Revocation['kind'], id, ...(issuedBefore > 0 && { issuedBefore }), until }
  }).filter(({ until }) => until > now)
}
