// A server of compare.ts, as a process of its own: node scripts/compared-server.ts <module> [words]. The module's `serve` makes the
// service; it is told where it listens, and each message is answered with the processor time used so far.
// 'collect' collects garbage first. The first full collection that finds no callback of process.nextTick waiting makes V8 forget the shape
// of those for good, and each costs twice from then on: 5 to 10 µs a request. When it comes is luck, but every service gets there.
import { pathToFileURL } from 'node:url'
import type { FastifyInstance } from 'fastify'

interface Served {
  readonly app: FastifyInstance
  /** What a request has to carry that only the server knows. */
  readonly headers?: Record<string, string>
}

const [module = '', ...words] = process.argv.slice(2)
const { serve } = (await import(pathToFileURL(module).href)) as { serve: (...words: string[]) => Promise<Served> }
const { app, headers = {} } = await serve(...words)
const address = await app.listen({ host: '127.0.0.1', port: 0 })
process.on('message', (what) => {
  // A message comes in such a callback itself.
  setImmediate(() => {
    if (what === 'collect') globalThis.gc?.()
    process.send?.(process.cpuUsage())
  })
})
process.on('disconnect', () => process.exit())
process.send?.({ address, headers })
