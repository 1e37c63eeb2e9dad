// A server of compare.ts as a separate process: node scripts/compared-server.ts <module> [words]. The function `serve` of the module
// creates the service. This process sends its address, and responds to each message with the processor time used so far.
// 'collect' runs the garbage collector first. The first full collection without a pending callback of process.nextTick makes V8 drop the
// shape of these callbacks permanently, and each callback costs twice as much from then on: 5 to 10 µs a request. The time of that
// collection is random, but every service reaches it.
import { pathToFileURL } from 'node:url'
import type { FastifyInstance } from 'fastify'

interface Served {
  readonly app: FastifyInstance
  /** Headers that a request must have and that only the server knows. */
  readonly headers?: Record<string, string>
}

const [module = '', ...words] = process.argv.slice(2)
const { serve } = (await import(pathToFileURL(module).href)) as { serve: (...words: string[]) => Promise<Served> }
const { app, headers = {} } = await serve(...words)
const address = await app.listen({ host: '127.0.0.1', port: 0 })
process.on('message', (what) => {
  // The message event itself runs in such a callback.
  setImmediate(() => {
    if (what === 'collect') globalThis.gc?.()
    process.send?.(process.cpuUsage())
  })
})
process.on('disconnect', () => process.exit())
process.send?.({ address, headers })
