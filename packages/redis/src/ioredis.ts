import { type Redis, runScript } from './redis.ts'

interface Scripts {
  evalsha(sha: string, keys: number | string, ...args: string[]): Promise<unknown>
  eval(source: string, keys: number | string, ...args: string[]): Promise<unknown>
}

/** The part of an `ioredis` client that this package uses. */
interface IoredisLike extends Scripts {
  duplicate(override: { lazyConnect: true; autoResubscribe: false; retryStrategy: () => null }): {
    connect(): Promise<void>
    subscribe(channel: string): Promise<unknown>
    disconnect(): void
    on(event: string, listener: (...invocation: unknown[]) => void): unknown
  }
}

/** The part of an `ioredis` cluster client that this package uses. */
interface IoredisClusterLike extends Scripts {
  nodes(role: 'master'): readonly Pick<IoredisLike, 'duplicate'>[]
}

/** Creates a `Redis` from an `ioredis` client for one server or a cluster. You must close the client yourself. */
export function fromIoredis(client: IoredisLike | IoredisClusterLike): Redis {
  return {
    run: async ({ source, sha }, args) =>
      runScript(
        () => client.evalsha(sha, 1, args[0] ?? '', ...args),
        () => client.eval(source, 1, args[0] ?? '', ...args)
      ),
    async listen(channel, { onMessage, onLost }) {
      // A connection that reconnects automatically would not report that messages may have been missed.
      const subscriber = listenerOf(client).duplicate({ lazyConnect: true, autoResubscribe: false, retryStrategy: () => null })
      let isListening = true
      subscriber.on('error', () => {})
      subscriber.on('message', (_channel, message) => onMessage(String(message)))
      try {
        await subscriber.connect()
        await subscriber.subscribe(channel)
      } catch (error) {
        subscriber.disconnect()
        throw error
      }
      subscriber.on('close', () => {
        if (isListening) onLost()
        isListening = false
      })
      return async () => {
        isListening = false
        subscriber.disconnect()
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
