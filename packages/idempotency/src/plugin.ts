import { observeErrorHandlers } from '@concordat/plugin-kit/api-error'
import { planStep, warnWithoutRoutes } from '@concordat/plugin-kit/steps'
import { contribute, earlierRoutes, publish, requireKnownConfig } from '@concordat/plugin-kit/wiring'
import type { FastifyPluginAsync } from 'fastify'
import fp from 'fastify-plugin'
import { keyClaimer } from './claim/claim-key.ts'
import { gateOf } from './claim/gate.ts'
import { idempotencyErrors } from './errors.ts'
import { type IdempotencyOptions, type RouteIdempotency, resolveOptions } from './options.ts'
import { guardRoutes, refuseUnguarded } from './routes/guarded-routes.ts'
import { operationParts } from './routes/operation-parts.ts'
import { requirePlace } from './routes/place.ts'
import { Heartbeat } from './run/heartbeat.ts'
import { MissedCalls } from './run/missed-calls.ts'
import type { RequestIdempotency, Run } from './run/run.ts'
import { leavesKeyFree, settlementOf } from './run/settlement.ts'
import { tendStore } from './run/store-care.ts'
import { isReplay, replayKey } from './stored/stored-response.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether an `Idempotency-Key` is required, accepted or ignored on this POST, PATCH, PUT or DELETE route. @default 'off' */
    idempotency?: 'required' | 'accepted' | 'off' | RouteIdempotency | undefined
  }
  interface FastifyRequest {
    /** The key and its claim, in a request that runs under an idempotency key; `null` in all other requests. */
    idempotency: RequestIdempotency | null
  }
}

/** Runs a request with a key once: its response is stored before it is sent, and a retry gets the stored response (rules I1 to I5). */
const idempotency: FastifyPluginAsync<IdempotencyOptions> = async (app, options) => {
  const settings = resolveOptions(options, app)
  requirePlace(app)
  const heartbeat = new Heartbeat(settings, app.log)
  const missedCalls = new MissedCalls(settings.storeTimeoutMs, app.log)
  const settlement = settlementOf(settings, heartbeat, missedCalls, app.log)
  const pass = gateOf(settings, { claimKey: keyClaimer(settings, missedCalls, app.log), settlement, heartbeat })

  requireKnownConfig(app, 'idempotency')
  warnWithoutRoutes(app, 'idempotency')
  contribute(app, 'errors', idempotencyErrors)
  observeErrorHandlers(app)
  contribute(app, 'operations', operationParts)
  publish(app, {
    idempotency: {
      keyOf: ({ idempotency }) => idempotency,
      isReplay,
      isStored: ({ idempotency }, statusCode) => !leavesKeyFree(idempotency as Run, statusCode),
      handlerNotStarted: ({ idempotency }) => idempotency?.release()
    }
  })
  app.decorateRequest('idempotency', null)
  app.decorateRequest(replayKey, false)
  guardRoutes(app, settings, pass, settlement)
  app.addHook('onClose', async () => {
    heartbeat.stop()
    missedCalls.stop()
  })
  tendStore(app, settings)
  // The hook runs for each request and costs as much as a hash of its key, so it is added only if routes exist already.
  if (earlierRoutes(app).length > 0) planStep(app, 'onRequest', () => refuseUnguarded)
}

const plugin: FastifyPluginAsync<IdempotencyOptions> = fp(idempotency, { name: '@concordat/idempotency', fastify: '^5.12.1' })
export default plugin
