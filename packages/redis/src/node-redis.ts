import { type Listener, lossOf, type Redis } from './redis.ts'
import { runScript } from './script.ts'

/** The part of a `redis` subscriber connection that this package uses. */
export interface NodeRedisSubscriberLike {
  connect(): Promise<unknown>
  subscribe(channel: string, onMessage: (message: string) => void): Promise<unknown>
  destroy(): void
  readonly isOpen: boolean
  on(event: string, listener: (...invocation: unknown[]) => void): unknown
}

/** The part of a `redis` client that this package uses. */
export interface NodeRedisLike {
  evalSha(sha: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>
  eval(source: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>
  duplicate(): NodeRedisSubscriberLike
}

/** Creates a `Redis` from a client of the `redis` package. You must close the client yourself. */
export function fromNodeRedis(client: NodeRedisLike): Redis {
  return {
    run: ({ source, sha }, args) => {
      const invocation = { keys: args.slice(0, 1), arguments: [...args] }
      return runScript(
        () => client.evalSha(sha, invocation),
        () => client.eval(source, invocation)
      )
    },
    async listen(channel: string, { onMessage, onLost }: Listener) {
      const subscriber = client.duplicate()
      const loss = lossOf(onLost)
      let begun = false
      const close = () => {
        if (subscriber.isOpen) subscriber.destroy()
      }
      // The client would reconnect automatically and not report that messages may have been missed.
      const gone = () => {
        close()
        if (begun) loss.notify()
      }
      try {
        await new Promise<void>((resolve, reject) => {
          subscriber.on('error', (error) => {
            gone()
            reject(error)
          })
          subscriber.connect().then(() => resolve(), reject)
        })
        await subscriber.subscribe(channel, onMessage)
        begun = true
      } catch (error) {
        close()
        throw error
      }
      subscriber.on('end', gone)
      return async () => {
        if (loss.end()) close()
      }
    }
  }
}
