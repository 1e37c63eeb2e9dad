import { EventEmitter, once } from 'node:events'
import type { BeginOutcome, IdempotencyStore, StoredResponse } from '@concordat/idempotency'
import { type Redis, type StoreOptions, spreadKeysOf } from './redis.ts'
import { script } from './script.ts'

// A record is a hash: fingerprint, token, attempt, end of the lease, and after completion status, header fields and body. Times are those
// of Redis. Tokens are its time in microseconds, so that they also grow after a record was lost.
const clock = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`

const begin = script(`${clock}
local kept = redis.call('HMGET', KEYS[1], 'fingerprint', 'token', 'attempt', 'lease', 'status', 'headers', 'body')
if kept[1] then
  if kept[1] ~= ARGV[2] then return { 'mismatch' } end
  if kept[5] then return { 'done', kept[5], kept[6], kept[7] } end
  local left = kept[4] - now
  if left > 0 then return { 'busy', string.format('%.0f', left) } end
  if ARGV[5] == 'no' then return { 'abandoned' } end
end
local token = string.format('%.0f', math.max((kept[2] or 0) + 1, time[1] * 1000000 + time[2]))
local attempt = string.format('%.0f', (kept[3] or 0) + 1)
redis.call('HSET', KEYS[1], 'fingerprint', ARGV[2], 'token', token, 'attempt', attempt, 'lease', string.format('%.0f', now + ARGV[3]))
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return { 'claimed', token, attempt }
`)

const renew = script(`${clock}
local kept = redis.call('HMGET', KEYS[1], 'token', 'status')
if kept[1] ~= ARGV[2] or kept[2] then return 0 end
redis.call('HSET', KEYS[1], 'lease', string.format('%.0f', now + ARGV[3]))
return 1
`)

const complete = script(`
local kept = redis.call('HMGET', KEYS[1], 'token', 'status')
if kept[1] ~= ARGV[2] then return 0 end
if kept[2] then return 1 end
redis.call('HSET', KEYS[1], 'status', ARGV[4], 'headers', ARGV[5], 'body', ARGV[6])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
redis.call('PUBLISH', ARGV[7], ARGV[8])
return 1
`)

const release = script(`
local kept = redis.call('HMGET', KEYS[1], 'token', 'status')
if kept[1] ~= ARGV[2] or kept[2] then return 0 end
redis.call('DEL', KEYS[1])
redis.call('PUBLISH', ARGV[3], ARGV[4])
return 1
`)

const settings = script(`return redis.call('INFO', 'memory') .. redis.call('INFO', 'persistence')`)

/**
 * Creates a store of idempotency keys in Redis 6.2 or later. Each method is one script, so a new key costs two round trips. The fencing
 * token protects the record, not the writes of a handler elsewhere. Redis must be set to `noeviction` and must persist its data on disk: a
 * request whose record is lost runs again.
 */
export function redisIdempotencyStore(redis: Redis, options: StoreOptions = {}): IdempotencyStore {
  const recordOf = spreadKeysOf(options, 'idempotency')
  const channel = recordOf('ended')
  const ended = new EventEmitter().setMaxListeners(0)
  let listening: Promise<() => Promise<void>> | undefined

  return {
    guarantees: { durable: false, shared: true, transactional: false },
    async begin(key, fingerprint, { leaseMs, lifetimeMs, takesOver }) {
      const terms = [String(leaseMs), String(lifetimeMs), takesOver ? 'yes' : 'no']
      return outcomeOf(key, (await redis.run(begin, [recordOf(key), fingerprint, ...terms])) as string[])
    },
    async renew({ key, token }, leaseMs) {
      return (await redis.run(renew, [recordOf(key), String(token), String(leaseMs)])) === 1
    },
    async complete({ key, token }, { status, headers, body }, lifetimeMs) {
      const response = [String(status), JSON.stringify(headers), textOf(body)]
      const args = [recordOf(key), String(token), String(lifetimeMs), ...response, channel, key]
      return (await redis.run(complete, args)) === 1 ? 'stored' : 'lost'
    },
    async release({ key, token }) {
      return (await redis.run(release, [recordOf(key), String(token), channel, key])) === 1 ? 'released' : 'lost'
    },
    async changed(key, signal) {
      listening ??= listen()
      await once(ended, key, { signal }).catch(() => {})
    },
    async check() {
      const info = String(await redis.run(settings, [channel]))
      const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1] ?? 'unknown'
      return [
        ...(policy === 'noeviction'
          ? []
          : [
              `Redis has the maxmemory-policy ${policy}: a retry of a request whose record is evicted would be executed again. Set maxmemory-policy to noeviction.`
            ]),
        ...(/^aof_enabled:1/m.test(info)
          ? []
          : [
              'Redis does not write an append-only file: retries of requests whose records are lost in a crash would be executed again. Set appendonly to yes.'
            ])
      ]
    },
    async close() {
      const end = await listening
      await end?.()
    }
  }

  // One connection for all waiting requests. Without it they poll.
  async function listen() {
    try {
      return await redis.listen(channel, { onMessage: (key) => void ended.emit(key), onLost: listenAgain })
    } catch {
      listenAgain()
      return async () => {}
    }
  }

  // The next request that waits subscribes again.
  function listenAgain() {
    listening = undefined
  }
}

function outcomeOf(key: string, [state = '', first = '', second = '', third = '']: readonly string[]): BeginOutcome {
  if (state === 'claimed') return { state, claim: { key, token: Number(first), attempt: Number(second) } }
  if (state === 'busy') return { state, leaseMs: Number(first) }
  if (state !== 'done') return { state: state as 'abandoned' | 'mismatch' }
  return { state, response: { status: Number(first), headers: JSON.parse(second) as StoredResponse['headers'], body: bodyOf(third) } }
}

// Clients return text, so bytes are stored as text.
function textOf(body: StoredResponse['body']) {
  if (typeof body === 'string') return `text ${body}`
  return body === null ? 'none' : `bytes ${Buffer.from(body).toString('base64')}`
}

function bodyOf(kept: string): StoredResponse['body'] {
  if (kept === 'none') return null
  return kept.startsWith('text ') ? kept.slice('text '.length) : Buffer.from(kept.slice('bytes '.length), 'base64')
}
