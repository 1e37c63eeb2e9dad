import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Database } from '../database/database.ts'
import { unavailable } from '../database/errors.ts'

const Health = Type.Object({ status: Type.Literal('ok') })
const ok = { status: 'ok' } as const

/** For whatever starts and watches the process: it lives, and it can do its work. */
export const health: FastifyPluginAsyncTypebox<{ database: Database }> = async (app, { database }) => {
  // Probes ask by address, over plain HTTP.
  const options = {
    config: { operational: true, public: true, directAccess: true, rateLimit: false },
    schema: { response: { 200: Health } }
  } as const

  app.get('/health/live', options, async () => ok)

  app.get('/health/ready', options, async () => {
    await database.query('SELECT 1').catch((error: unknown) => {
      throw unavailable(error)
    })
    return ok
  })
}
