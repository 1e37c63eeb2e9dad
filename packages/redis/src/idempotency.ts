import { randomUUID } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import type { BeginOutcome, IdempotencyStore, StoredResponse } from '@concordat/idempotency'
import { begin, complete, release, renew, settings, withdraw } from './idempotency-scripts.ts'
import { type Redis, type StoreOptions, spreadKeysOf } from './redis.ts'

/**
 * Creates a store of idempotency keys in Redis 6.2 or later. Each method is one script, so a new key costs two round trips. The fencing
 * token protects the record, not the writes of a handler elsewhere. Redis must be set to `noeviction` and must persist its data on disk: a
 * request whose record is lost runs again.
 */
export function redisIdempotencyStore(redis: Redis, options: StoreOptions = {}): IdempotencyStore {
  // All records of a client share a slot with what is counted for it.
  const clientOf = spreadKeysOf(options, 'idempotency')
  const channel = clientOf('ended')
  const ended = new EventEmitter().setMaxListeners(0)
  let listening: Promise<() => Promise<void>> | undefined

  return {
    guarantees: { shared: true, transactional: false },
    async begin(key, fingerprint, { leaseMs, lifetimeMs, takesOver, client, maxClientBytes, claimId = randomUUID() }) {
      const terms = [String(leaseMs), String(lifetimeMs), takesOver ? 'yes' : 'no', String(maxClientBytes), claimId]
      return outcomeOf(key, client, (await redis.run(begin, [clientOf(client), key, fingerprint, ...terms])) as string[])
    },
    async renew({ key, client, token }, leaseMs) {
      return (await redis.run(renew, [clientOf(client), key, String(token), String(leaseMs)])) === 1
    },
    async complete({ key, client, token }, { status, headers, body, isProgress }, lifetimeMs) {
      const response = [String(status), JSON.stringify(headers), textOf(body)]
      const args = [clientOf(client), key, String(token), String(lifetimeMs), ...response, channel, isProgress ? 'yes' : 'no']
      return (await redis.run(complete, args)) === 1 ? 'stored' : 'lost'
    },
    async release({ key, client, token }) {
      return (await redis.run(release, [clientOf(client), key, String(token), channel])) === 1 ? 'released' : 'lost'
    },
    async withdraw({ key, client, claimId }) {
      await redis.run(withdraw, [clientOf(client), key, claimId, channel])
    },
    async changed(key, signal) {
      listening ??= listen()
      await once(ended, key, { signal }).catch(() => {})
    },
    async check() {
      const info = String(await redis.run(settings, [channel]))
      const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1] ?? 'unknown'
      return [
        policy !== 'noeviction' &&
          `Redis has the maxmemory-policy ${policy}: a retry of a request whose record is evicted would be executed again. Set maxmemory-policy to noeviction.`,
        !/^aof_enabled:1/m.test(info) &&
          'Redis does not write an append-only file: retries of requests whose records are lost in a crash would be executed again. Set appendonly to yes.'
      ].filter((warning) => warning !== false)
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

function outcomeOf(key: string, client: string, [state = '', ...values]: readonly string[]): BeginOutcome {
  const [first = '', second = '', bytes = '', ...progress] = values
  if (state === 'claimed') {
    const claim = { key, client, token: Number(first), attempt: Number(second) }
    return { state, claim, clientBytes: Number(bytes), progress: progress.length === 0 ? undefined : responseOf(progress) }
  }
  if (state === 'busy') return { state, leaseMs: Number(first) }
  if (state === 'exceeded') return { state, retryMs: Number(first) }
  if (state !== 'done') return { state: state as 'abandoned' | 'mismatch' }
  return { state, response: responseOf(values) }
}

function responseOf([status = '', headers = '', body = '']: readonly string[]): StoredResponse {
  return { status: Number(status), headers: JSON.parse(headers) as StoredResponse['headers'], body: bodyOf(body) }
}

// Clients return text, so bytes are stored as text.
function textOf(body: StoredResponse['body']) {
  if (typeof body === 'string') return `text ${body}`
  return body === null ? 'none' : `bytes ${Buffer.from(body).toString('base64')}`
}

function bodyOf(stored: string): StoredResponse['body'] {
  if (stored === 'none') return null
  return stored.startsWith('text ') ? stored.slice('text '.length) : Buffer.from(stored.slice('bytes '.length), 'base64')
}
