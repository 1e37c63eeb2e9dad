import { fromIoredis, fromNodeRedis, type Redis } from '@concordat/redis'
import { Redis as Ioredis } from 'ioredis'
import { createClient } from 'redis'

/** Connects like a service, with either client. */
export async function connected(url: string, client: string): Promise<Redis> {
  if (client === 'ioredis') return fromIoredis(new Ioredis(url, { socketTimeout: 1000 }).on('error', () => {}))
  // Without a strategy, the client does not reconnect after a timeout.
  const socket = { socketTimeout: 1000, reconnectStrategy: (retries: number) => Math.min(50 * retries, 1000) }
  return fromNodeRedis(
    await createClient({ url, socket, pingInterval: 300 })
      .on('error', () => {})
      .connect()
  )
}
