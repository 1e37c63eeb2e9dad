import { setTimeout as delay } from 'node:timers/promises'
import { ApiError } from '@concordat/api-error'
import type { OpenDatabase } from '@concordat/postgres/open'
import { databaseUnavailable } from '@concordat/postgres/rows'
import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'

const Health = Type.Object({ status: Type.Literal('ok') })
const ok = { status: 'ok' } as const

interface HealthOptions {
  readonly database: OpenDatabase
  readonly rateLimits: { check(): Promise<unknown> }
  readonly drain: Drain
}

/** Whether the process is about to stop. */
interface Drain {
  isDraining: boolean
}

/** Makes the service serve for some more seconds after the signal to stop, while its readiness check asks load balancers to send nothing more. */
export function drainOf(app: FastifyInstance, seconds: number): Drain {
  const drain = { isDraining: false }
  app.addHook('preClose', async () => {
    drain.isDraining = true
    await delay(seconds * 1000)
  })
  return drain
}

/** Health checks for the system that starts and monitors the process: whether it is alive, and whether it can serve requests. */
export const health: FastifyPluginAsyncTypebox<HealthOptions> = async (app, { database, rateLimits, drain }) => {
  // Probes use the address of the process, over plain HTTP.
  const options = {
    config: { operational: true, public: true, directAccess: true, rateLimit: false },
    schema: { response: { 200: Health } }
  } as const

  app.get('/health/live', options, async () => ok)

  app.get('/health/ready', options, async () => {
    if (drain.isDraining) throw new ApiError(503, 'SERVICE_UNAVAILABLE', 'The process is about to stop.')
    await Promise.all([database.check(), rateLimits.check()]).catch((error: unknown) => {
      throw databaseUnavailable(error)
    })
    return ok
  })
}
