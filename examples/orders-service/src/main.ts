import closeWithGrace from 'close-with-grace'
import type { FastifyInstance } from 'fastify'
import { buildApp } from './app.ts'
import { fromVariables, readConfiguration, reasonOf } from './configuration.ts'

let app: FastifyInstance | undefined

try {
  const configuration = readConfiguration()
  // Before the database is prepared, so that a signal meanwhile also ends the process without an error message.
  closeWithGrace({ delay: 9_000 + configuration.drainSeconds * 1000 }, async ({ err }) => {
    if (err) console.error(err)
    await app?.close()
  })
  app = await buildApp(configuration)
  const address = await fromVariables(['HOST', 'PORT'], app.listen({ host: configuration.host, port: configuration.port }))
  const reference = app.hasRoute({ method: 'GET', url: '/reference' }) ? ` – reference: ${address}/reference` : ''
  console.log(`Orders service at ${address}${reference} – try: curl -s ${address}/v2/products`)
} catch (error) {
  console.error(`Cannot start: ${reasonOf(error)}`)
  process.exit(1)
}
