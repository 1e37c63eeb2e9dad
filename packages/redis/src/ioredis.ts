import { type Listener, lossOf, type Redis } from './redis.ts'
import { runScript } from './script.ts'

/** A connection of `ioredis` that hears channels, as far as it is used here. */
export interface IoredisSubscriberLike {
  connect(): Promise<void>
  subscribe(channel: string): Promise<unknown>
  disconnect(): void
  on(event: string, listener: (...told: unknown[]) => void): unknown
}

/** A client of `ioredis`, as far as it is used here. */
export interface IoredisLike extends IoredisScripts {
  duplicate(override: { lazyConnect: true; autoResubscribe: false; retryStrategy: () => null }): IoredisSubscriberLike
}

/** A client of `ioredis` for a cluster, as far as it is used here. */
export interface IoredisClusterLike extends IoredisScripts {
  nodes(role: 'master'): readonly Pick<IoredisLike, 'duplicate'>[]
}

/** What both can run. */
export interface IoredisScripts {
  evalsha(sha: string, keys: number | string, ...args: string[]): Promise<unknown>
  eval(source: string, keys: number | string, ...args: string[]): Promise<unknown>
}

/** A Redis, or a cluster, by `ioredis`. The client stays yours to close. */
export function fromIoredis(client: IoredisLike | IoredisClusterLike): Redis {
  return {
    run: ({ source, sha }, args) =>
      runScript(
        () => client.evalsha(sha, 1, args[0] ?? '', ...args),
        () => client.eval(source, 1, args[0] ?? '', ...args)
      ),
    async listen(channel: string, { heard, lost }: Listener) {
      // One that came back by itself would not say that something may have been missed.
      const subscriber = listenerOf(client).duplicate({ lazyConnect: true, autoResubscribe: false, retryStrategy: () => null })
      const loss = lossOf(lost)
      subscriber.on('error', () => {})
      subscriber.on('message', (_channel, message) => heard(String(message)))
      try {
        await subscriber.connect()
        await subscriber.subscribe(channel)
      } catch (error) {
        subscriber.disconnect()
        throw error
      }
      subscriber.on('close', loss.tell)
      return async () => {
        if (loss.end()) subscriber.disconnect()
      }
    }
  }
}

// What is published to one node of a cluster is heard on all.
function listenerOf(client: IoredisLike | IoredisClusterLike) {
  if (!('nodes' in client)) return client
  const [node] = client.nodes('master')
  if (node === undefined) throw new Error('redis: the cluster has no node that could be heard.')
  return node
}
