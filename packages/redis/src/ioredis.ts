import { type Listener, lossOf, type Redis } from './redis.ts'
import { runScript } from './script.ts'

/** The part of an `ioredis` subscriber connection that this package uses. */
export interface IoredisSubscriberLike {
  connect(): Promise<void>
  subscribe(channel: string): Promise<unknown>
  disconnect(): void
  on(event: string, listener: (...invocation: unknown[]) => void): unknown
}

/** The part of an `ioredis` client that this package uses. */
export interface IoredisLike extends IoredisScripts {
  duplicate(override: { lazyConnect: true; autoResubscribe: false; retryStrategy: () => null }): IoredisSubscriberLike
}

/** The part of an `ioredis` cluster client that this package uses. */
export interface IoredisClusterLike extends IoredisScripts {
  nodes(role: 'master'): readonly Pick<IoredisLike, 'duplicate'>[]
}

/** The commands for scripts, which both kinds of clients have. */
export interface IoredisScripts {
  evalsha(sha: string, keys: number | string, ...args: string[]): Promise<unknown>
  eval(source: string, keys: number | string, ...args: string[]): Promise<unknown>
}

/** Creates a `Redis` from an `ioredis` client for one server or a cluster. You must close the client yourself. */
export function fromIoredis(client: IoredisLike | IoredisClusterLike): Redis {
  return {
    run: ({ source, sha }, args) =>
      runScript(
        () => client.evalsha(sha, 1, args[0] ?? '', ...args),
        () => client.eval(source, 1, args[0] ?? '', ...args)
      ),
    async listen(channel: string, { onMessage, onLost }: Listener) {
      // A connection that reconnects automatically would not report that messages may have been missed.
      const subscriber = listenerOf(client).duplicate({ lazyConnect: true, autoResubscribe: false, retryStrategy: () => null })
      const loss = lossOf(onLost)
      subscriber.on('error', () => {})
      subscriber.on('message', (_channel, message) => onMessage(String(message)))
      try {
        await subscriber.connect()
        await subscriber.subscribe(channel)
      } catch (error) {
        subscriber.disconnect()
        throw error
      }
      subscriber.on('close', loss.notify)
      return async () => {
        if (loss.end()) subscriber.disconnect()
      }
    }
  }
}

// All nodes of a cluster receive the messages published to one of them.
function listenerOf(client: IoredisLike | IoredisClusterLike) {
  if (!('nodes' in client)) return client
  const [node] = client.nodes('master')
  if (node === undefined) throw new Error('redis: the cluster has no master node to subscribe to. Check the state of the cluster.')
  return node
}
