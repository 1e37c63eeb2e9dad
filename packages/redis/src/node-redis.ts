import { type Redis, runScript } from './redis.ts'

/** The part of a `redis` client that this package uses. */
interface NodeRedisLike {
  evalSha(sha: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>
  eval(source: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>
  duplicate(): {
    connect(): Promise<unknown>
    subscribe(channel: string, onMessage: (message: string) => void): Promise<unknown>
    destroy(): void
    readonly isOpen: boolean
    on(event: string, listener: (...invocation: unknown[]) => void): unknown
  }
}

/** Creates a `Redis` from a client of the `redis` package. You must close the client yourself. */
export function fromNodeRedis(client: NodeRedisLike): Redis {
  return {
    async run({ source, sha }, args) {
      const invocation = { keys: args.slice(0, 1), arguments: [...args] }
      return runScript(
        () => client.evalSha(sha, invocation),
        () => client.eval(source, invocation)
      )
    },
    async listen(channel, { onMessage, onLost }) {
      const subscriber = client.duplicate()
      let isListening = false
      const close = () => {
        if (subscriber.isOpen) subscriber.destroy()
      }
      // The client would reconnect automatically and not report that messages may have been missed.
      const gone = () => {
        close()
        if (isListening) onLost()
        isListening = false
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
        isListening = true
      } catch (error) {
        close()
        throw error
      }
      subscriber.on('end', gone)
      return async () => {
        isListening = false
        close()
      }
    }
  }
}
