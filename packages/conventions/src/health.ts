import { setTimeout as delay } from 'node:timers/promises'
import type { AuthenticationOptions } from '@concordat/authentication'
import { isFromThisMachine } from '@concordat/plugin-kit/links'
import { describeOptions, duration, type OptionsOf, value } from '@concordat/plugin-kit/options'
import { contractLater, contractOf, contribute } from '@concordat/plugin-kit/wiring'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { conventionsErrors, notReady, processStopping } from './errors.ts'
import { type CheckedStore, StoreHealth } from './store-health.ts'

/** The description of {@link HealthOptions}. @readme */
export const healthOptions = describeOptions('conventions', {
  /** The stores without which requests fail, by the names that the response shows. The revocations of `authentication` are added. */
  required: value<Readonly<Record<string, CheckedStore>>>({ default: {} }),
  /** The stores without which requests are served, such as a Redis that only counts requests. */
  optional: value<Readonly<Record<string, CheckedStore>>>({ default: {} }),
  /** How long a process that stops is not ready but still serves, so that load balancers notice it. */
  drainSeconds: duration({ default: 0, max: 300 })
})

/** Options of the health checks. */
export interface HealthOptions extends OptionsOf<typeof healthOptions> {}

const pauseMs = 2000
const availability = {
  name: 'concordat.health.store.available',
  unit: '{store}',
  description: 'Whether a store is available: 1 or 0. A process is ready while all required stores are.'
}

const Store = {
  type: 'object',
  required: ['name', 'required', 'available'],
  properties: { name: { type: 'string' }, required: { type: 'boolean' }, available: { type: 'boolean' } }
} as const
const Live = { type: 'object', required: ['status'], properties: { status: { type: 'string', const: 'ok' } } } as const
const Ready = {
  type: 'object',
  required: ['status'],
  properties: { ...Live.properties, stores: { type: 'array', items: Store } }
} as const

// Probes use the address of the process, over plain HTTP. Credentials decide about the details only.
const config = { operational: true, public: 'ignoring-credentials', directAccess: true, rateLimit: false } as const
const permission = 'health:read'

/**
 * Checks the stores in the background, and returns the function that adds `GET /health/live` and `GET /health/ready`, which names the stores only to
 * clients on this machine, or with the permission `health:read` over HTTPS. Call it before other plugins add their `preClose` hooks, and the function
 * it returns after all plugins.
 */
export function openHealth(app: FastifyInstance, options: HealthOptions, authentication: AuthenticationOptions | undefined): () => void {
  const { required, optional, drainMs } = healthOptions.read(options, 'options.health')
  const stores = [...healthOf(app, { ...required, ...revocationsOf(authentication) }, true), ...healthOf(app, optional, false)]
  const clients = contractLater(app, 'clients')
  let isStopping = false
  let isClosed = false
  let timer: NodeJS.Timeout | undefined

  app.addHook('preClose', async () => {
    isStopping = true
    await delay(drainMs)
  })
  // A write that the database refuses is noticed before the next check.
  app.addHook('onError', async (_request, _reply, error) => {
    for (const store of stores) store.failed(error)
  })
  app.addHook('onClose', async () => {
    isClosed = true
    clearTimeout(timer)
  })
  contribute(app, 'errors', conventionsErrors)
  contribute(app, 'gauges', {
    metrics: [availability],
    read: () =>
      stores.map(({ name, isRequired, isAvailable }) => {
        return { metric: availability, value: Number(isAvailable), attributes: { store: name, required: String(isRequired) } }
      })
  })

  async function seesStores(request: FastifyRequest) {
    if (isFromThisMachine(request)) return true
    const known = request.protocol === 'https' ? clients() : undefined
    if (known === undefined) return false
    return known.requirePermissions(request, [permission]).then(
      () => true,
      () => false
    )
  }

  // Without the hooks, which would log the ordinary end of a process as an error.
  function refuseAll(request: FastifyRequest, reply: FastifyReply) {
    const respondAtOnce = contractOf(app, 'catalogue')?.respondAtOnce
    if (respondAtOnce === undefined) throw processStopping()
    respondAtOnce(request, reply, processStopping())
    return reply
  }

  async function checkAll() {
    await Promise.all(stores.map((store) => store.check()))
    if (!isClosed) timer = setTimeout(() => void checkAll(), pauseMs).unref()
  }

  return () => {
    // After the hook that starts the feed of revocations.
    app.addHook('onReady', checkAll)
    app.get('/health/live', { config, schema: { response: { 200: Live } } }, async (_request, reply) => {
      forbidStoring(reply)
      return { status: 'ok' }
    })
    app.get('/health/ready', { config, schema: { response: { 200: Ready } } }, async (request, reply) => {
      forbidStoring(reply)
      if (isStopping) return refuseAll(request, reply)
      const shown = (await seesStores(request)) ? stores : undefined
      if (stores.some(({ isRequired, isAvailable }) => isRequired && !isAvailable))
        throw notReady(shown?.filter(({ isAvailable }) => !isAvailable))
      const described = shown?.map(({ name, isRequired, isAvailable }) => ({ name, required: isRequired, available: isAvailable }))
      return { status: 'ok', stores: described }
    })
  }
}

// Without a tag, because a 304 would show a monitor the state of an earlier check.
function forbidStoring(reply: FastifyReply) {
  reply.header('cache-control', 'no-store')
}

function healthOf(app: FastifyInstance, stores: Readonly<Record<string, CheckedStore>>, isRequired: boolean) {
  return Object.entries(stores).map(([name, store]) => {
    if (typeof (store as CheckedStore | undefined)?.check === 'function') return new StoreHealth(name, store, isRequired, app.log)
    throw new TypeError(
      `conventions: options.health.${isRequired ? 'required' : 'optional'}.${name} must be an object with a function check, for example the database.`
    )
  })
}

function revocationsOf(authentication: AuthenticationOptions | false | undefined): Readonly<Record<string, CheckedStore>> {
  const { revocations, maxStalenessSeconds = 5 } = authentication || {}
  if (revocations === undefined) return {}
  return {
    revocations: {
      async check() {
        const isStale = () => !(revocations.staleMs <= maxStalenessSeconds * 1000)
        if (isStale()) await revocations.refresh?.()
        if (isStale()) throw new Error('The revocations are not up to date.')
      }
    }
  }
}
