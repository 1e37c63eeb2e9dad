import { fromIoredis, fromNodeRedis, type Redis } from '@concordat/redis'
import { Redis as Ioredis } from 'ioredis'
import { createClient } from 'redis'

/** A connection as a service makes it, by one client or the other. */
export async function connected(url: string, client: string): Promise<Redis> {
  if (client === 'ioredis') return fromIoredis(new Ioredis(url).on('error', () => {}))
  return fromNodeRedis(
    await createClient({ url })
      .on('error', () => {})
      .connect()
  )
}
