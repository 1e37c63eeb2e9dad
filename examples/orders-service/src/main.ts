import closeWithGrace from 'close-with-grace'
import type { FastifyInstance } from 'fastify'
import { buildApp } from './app.ts'
import { readConfiguration } from './configuration.ts'

let app: FastifyInstance | undefined

// From the first moment on: a signal while the database is being prepared ends the process as quietly as any other.
closeWithGrace({ delay: 9_000 }, async ({ err }) => {
  if (err) console.error(err)
  await app?.close()
})

try {
  const configuration = readConfiguration()
  app = await buildApp(configuration)
  const address = await app.listen({ host: configuration.host, port: configuration.port })
  console.log(`Orders service at ${address} – try: curl -s ${address}/v2/products`)
} catch (error) {
  console.error(`Cannot start: ${reasonOf(error)}`)
  process.exit(1)
}

// Clients are not told what happened; whoever starts the service is.
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause === undefined ? error.message.replaceAll('\n', ' ') : reasonOf(error.cause)
}
