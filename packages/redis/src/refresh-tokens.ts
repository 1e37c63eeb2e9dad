import type { RefreshFamily, RefreshOutcome, RefreshTokenStore } from '@concordat/token-issuing'
import { keysOf, type Redis, type StoreOptions, script } from './redis.ts'

// A family is a hash under its handle. It stores how often its subject, and all users, had been revoked when it began. One more revocation
// of either ends the family, so that a revocation does not have to search for families.
const counts = `
local function count(name) return redis.call('GET', ARGV[1] .. name) or '0' end
local function counts(subject) return count('everybody') .. ' ' .. count('subject:' .. subject) end
`
// Longer than the maximum lifetime of a session.
const longest = 401 * 86_400

const begin = script(`${counts}
local family = ARGV[1] .. 'family:' .. ARGV[2]
local id = ARGV[1] .. 'id:' .. ARGV[3]
-- A client that loses its connection may send the script again.
if redis.call('HGET', family, 'newest') == ARGV[8] then return 1 end
if redis.call('EXISTS', family, id) > 0 then return 0 end
redis.call('HSET', family, 'family', ARGV[5], 'client', ARGV[6], 'expires', ARGV[7], 'newest', ARGV[8], 'idle', ARGV[9],
  'subject', ARGV[4], 'counts', counts(ARGV[4]))
redis.call('PEXPIREAT', family, ARGV[7])
redis.call('SET', id, ARGV[2], 'PXAT', ARGV[7])
return 1
`)

const use = script(`${counts}
local key = ARGV[1] .. 'family:' .. ARGV[2]
local stored = {}
local fields = redis.call('HGETALL', key)
for n = 1, #fields, 2 do stored[fields[n]] = fields[n + 1] end
if stored.family == nil then return { 'unknown' } end
if stored.revoked or stored.counts ~= counts(stored.subject) then return { 'revoked', stored.family } end
local now = tonumber(ARGV[6])
if now >= tonumber(stored.expires) or now >= tonumber(stored.idle) then return { 'expired', stored.family } end
if stored.client == ARGV[5] then
  if stored.newest == ARGV[3] then
    redis.call('HSET', key, 'newest', ARGV[4], 'replaced', ARGV[3], 'at', ARGV[6], 'idle', ARGV[8])
    return { 'rotated', stored.family, ARGV[4] }
  end
  if stored.replaced == ARGV[3] and now - tonumber(stored.at) < tonumber(ARGV[7]) then return { 'repeated', stored.family, stored.newest } end
end
redis.call('HSET', key, 'revoked', '1')
return { 'reused', stored.family }
`)

const revokeHandle = script(`
local key = ARGV[1] .. 'family:' .. ARGV[2]
local family = redis.call('HGET', key, 'family')
if family then redis.call('HSET', key, 'revoked', '1') end
return family
`)

const revokeFamily = script(`
local handle = redis.call('GET', ARGV[1] .. 'id:' .. ARGV[2])
if handle and redis.call('EXISTS', ARGV[1] .. 'family:' .. handle) == 1 then
  redis.call('HSET', ARGV[1] .. 'family:' .. handle, 'revoked', '1')
end
`)

const revokeCounted = script(`
redis.call('INCR', ARGV[1] .. ARGV[2])
redis.call('EXPIRE', ARGV[1] .. ARGV[2], ${2 * longest})
`)

/** Creates a store of refresh tokens in Redis, which must be set to `noeviction` and persist its data on disk, or sessions end when it is lost. */
export function redisRefreshTokenStore(redis: Redis, options: StoreOptions = {}): RefreshTokenStore {
  const keys = keysOf(options, 'refresh-tokens')

  return {
    async begin(family, secret, idleExpiresAt) {
      const { handle, id, subject, clientId, beganAt, expiresAt } = family
      const stored = JSON.stringify({ id, handle, subject, clientId, beganAt, expiresAt })
      const args = [keys, handle, id, subject, stored, textOf(clientId), String(expiresAt), secret, String(idleExpiresAt)]
      if ((await redis.run(begin, args)) !== 1)
        throw new Error('redis: a refresh token family with this id already exists. Create it again, with a new id.')
    },
    async use({ handle, secret, successor, clientId, now, reuseGraceMs, idleMs }) {
      const times = [now, reuseGraceMs, now + idleMs].map(String)
      const args = [keys, handle, secret, successor, textOf(clientId), ...times]
      const [outcome, family = '{}', newest] = (await redis.run(use, args)) as string[]
      if (outcome === 'unknown') return { outcome }
      return { outcome, family: JSON.parse(family), ...(newest !== undefined && { newest }) } as RefreshOutcome
    },
    async revokeHandle(handle) {
      const family = await redis.run(revokeHandle, [keys, handle])
      return typeof family === 'string' ? (JSON.parse(family) as RefreshFamily) : undefined
    },
    async revokeFamily(id) {
      await redis.run(revokeFamily, [keys, id])
    },
    async revokeSubject(subject) {
      await redis.run(revokeCounted, [keys, `subject:${subject}`])
    },
    async revokeAll() {
      await redis.run(revokeCounted, [keys, 'everybody'])
    }
  }
}

// A missing client differs from an empty one.
function textOf(clientId: string | undefined) {
  return clientId === undefined ? '' : `=${clientId}`
}
