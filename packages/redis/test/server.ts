import { randomUUID } from 'node:crypto'
import { fromIoredis, fromNodeRedis, type Redis } from '@concordat/redis'
import { Redis as Ioredis } from 'ioredis'
import { createClient } from 'redis'
import type { Test } from 'tap'

export const server: string = process.env['TEST_REDIS_URL'] ?? ''
export const onServer: { skip?: string } = server === '' ? { skip: 'set TEST_REDIS_URL to the address of a Redis server' } : {}

/** Returns a prefix for this test, whose keys are deleted after the test. */
export function freshPrefix(t: Test): string {
  const prefix = `concordat-test-${randomUUID().slice(0, 8)}`
  t.teardown(async () => {
    const client = new Ioredis(server)
    const keys = await client.keys(`*${prefix}:*`)
    if (keys.length > 0) await client.del(...keys)
    client.disconnect()
  })
  return prefix
}

/** Connects separately, as another process would. `kill` closes the connection and its subscriber connections. */
export const clients: Record<string, (t: Test) => Promise<{ redis: Redis; kill: () => Promise<void> }>> = {
  async ioredis(t) {
    const name = randomUUID()
    const client = new Ioredis(server, { connectionName: name, retryStrategy: () => 300, maxRetriesPerRequest: 1 })
    client.on('error', () => {})
    t.teardown(() => client.disconnect())
    return { redis: fromIoredis(client), kill: () => killNamed(name) }
  },
  async redis(t) {
    const name = randomUUID()
    const client = createClient({ url: server, name, socket: { reconnectStrategy: 300 }, disableOfflineQueue: true })
    client.on('error', () => {})
    await client.connect()
    t.teardown(() => client.destroy())
    return { redis: fromNodeRedis(client), kill: () => killNamed(name) }
  }
}

async function killNamed(name: string) {
  const client = new Ioredis(server)
  const list = (await client.client('LIST')) as string
  for (const line of list.split('\n').filter((entry) => entry.includes(`name=${name} `))) {
    await client.client('KILL', 'ID', /\bid=(\d+)/.exec(line)?.[1] ?? '').catch(() => {})
  }
  client.disconnect()
}
