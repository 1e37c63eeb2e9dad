import type { OpenDatabase } from '@concordat/postgres/open'
import { databaseUnavailable } from '@concordat/postgres/rows'
import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'

const Health = Type.Object({ status: Type.Literal('ok') })
const ok = { status: 'ok' } as const

interface HealthOptions {
  readonly database: OpenDatabase
  readonly rateLimits: { check(): Promise<unknown> }
}

/** Health checks for the system that starts and monitors the process: whether it is alive, and whether it can serve requests. */
export const health: FastifyPluginAsyncTypebox<HealthOptions> = async (app, { database, rateLimits }) => {
  // Probes use the address of the process, over plain HTTP.
  const options = {
    config: { operational: true, public: true, directAccess: true, rateLimit: false },
    schema: { response: { 200: Health } }
  } as const

  app.get('/health/live', options, async () => ok)

  app.get('/health/ready', options, async () => {
    await Promise.all([database.query('SELECT 1'), rateLimits.check()]).catch((error: unknown) => {
      throw databaseUnavailable(error)
    })
    return ok
  })
}
