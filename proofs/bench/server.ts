// A server of the benchmark as a process of its own: node proofs/bench/server.ts <file> <options as JSON>. The function `serve` of the file makes
// it. This process sends its address and what starting has cost, then responds to each message with the processor time used so far.
// 'collect' runs the garbage collector first: the first full collection without a pending callback of process.nextTick makes V8 drop the
// shape of these callbacks permanently, and each callback costs twice as much from then on. The time of that collection is random, but
// every service reaches it.
import { setImmediate } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'

interface Served {
  readonly app?: FastifyInstance
  readonly listen?: () => Promise<string>
  /** Headers that a request must have and that only the server knows. */
  readonly headers?: Record<string, string>
}

const [file = '', options = '{}'] = process.argv.slice(2)
const { serve } = (await import(file)) as { serve: (options: Record<string, string>) => Promise<Served> }
const { app, listen, headers } = await serve(JSON.parse(options))
const address = (await (app ? app.listen({ host: '127.0.0.1', port: 0 }) : listen?.())) as string
process.on('message', async (message) => {
  // The message itself is received in a callback of process.nextTick.
  await setImmediate()
  if (message === 'collect') globalThis.gc?.()
  process.send?.({ ...process.cpuUsage(), heap: process.memoryUsage().heapUsed, rss: process.memoryUsage.rss() })
})
process.on('disconnect', () => process.exit())
process.send?.({ address, headers, start: process.cpuUsage() })
