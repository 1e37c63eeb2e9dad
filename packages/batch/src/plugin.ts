import { observeErrorHandlers } from '@concordat/plugin-kit/api-error'
import { chain, planStep, stepHook } from '@concordat/plugin-kit/steps'
import { contribute, publish, requireKnownConfig } from '@concordat/plugin-kit/wiring'
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import { BatchRun } from './batch-run.ts'
import { batchErrors, errors } from './errors.ts'
import { operationExecutor } from './execute-operation.ts'
import { OperationRequest } from './operation-request.ts'
import { type BatchOptions, type BatchRoute, resolveOptions, resolveRoute } from './options.ts'
import type { Outcomes } from './outcomes.ts'
import { type Batch, readBatch } from './read-batch.ts'
import { routeSchema } from './route-schema.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Adds a batch route: `POST path` executes operations on the allowed paths, each on the route for its method and path. */
    batch(path: string, route: BatchRoute): void
  }
}

type SendNext = (error: null, payload: unknown) => void
const batchKey: unique symbol = Symbol('concordat.batch')
const outcomesKey: unique symbol = Symbol('concordat.batch.outcomes')
const watchedKey: unique symbol = Symbol('concordat.batch.watched')
type BatchRequest = FastifyRequest & { [outcomesKey]: Outcomes | null }

/** Executes many operations in one request, each with the checks, limits and response of a separate request (rule B1). */
const batch: FastifyPluginAsync<BatchOptions> = async (app, options) => {
  const settings = resolveOptions(options, app)
  const executeOperation = operationExecutor(app, settings)
  const batches = new Set<string>()

  requireKnownConfig(app, 'batch')
  contribute(app, 'errors', batchErrors)
  observeErrorHandlers(app)
  contribute(app, 'operations', (route) => ({ errors: isBatch(route) ? ['BATCH_INVALID'] : [] }))
  publish(app, {
    batches: { isPart: ({ raw }) => (raw as unknown) instanceof OperationRequest, hasParts: ({ routeOptions }) => isBatch(routeOptions) }
  })
  app.decorateRequest(outcomesKey, null)
  app.decorate('batch', addBatch)
  app.addHook('onRoute', watchStart)
  planStep(app, 'onRequest', () => receiveOperation)

  function addBatch(this: FastifyInstance, path: string, batchRoute: BatchRoute) {
    const url = this.prefix + path
    const route = resolveRoute(url, this.prefix, batchRoute, settings, batches)
    batches.add(url.toLowerCase())
    const config: object = { ...batchRoute.config, [batchKey]: true }
    this.route<{ Body: Batch }>({
      method: 'POST',
      url: path,
      config,
      schema: routeSchema(route),
      validatorCompiler: () => check,
      onSend: embedBodies,
      handler: async (request, reply) => {
        const outcomes = await new BatchRun(request.body, { request, reply, settings, executeOperation }).execute()
        ;(request as BatchRequest)[outcomesKey] = outcomes
        return outcomes.all
      }
    })

    function check(body: unknown) {
      try {
        return { value: readBatch(body, route) }
      } catch (error) {
        return { error: error as Error }
      }
    }
  }

  function embedBodies(request: FastifyRequest, _reply: FastifyReply, payload: unknown, next: SendNext) {
    const { [outcomesKey]: outcomes } = request as BatchRequest
    if (outcomes === null || typeof payload !== 'string') return next(null, payload)
    const key = settings.batchKey(request)
    if (key) key.storedBody = outcomes.storedResponse(payload)
    next(null, outcomes.fill(payload))
  }

  function receiveOperation(request: FastifyRequest, reply: FastifyReply) {
    const operation = request.raw as unknown
    if (!(operation instanceof OperationRequest)) return undefined
    const { batch: facts, refusal } = operation
    operation.received = request
    operation.hasStarted = !(request.is404 || watchedKey in request.routeOptions.config)
    // What stops an operation with a 5xx is logged once, by the batch.
    const isLogged = refusal === undefined || refusal.statusCode < 500
    request.log = reply.log = request.log.child({ batch: facts.requestId }, isLogged ? {} : { level: 'silent' })
    if (refusal !== undefined) return refusal
    if (isBatch(request.routeOptions)) return errors.create('BATCH_NESTED')
    const isOutside = facts.isAtomic && !request.is404 && settings.transactions()?.transactionOf(request) === undefined
    return isOutside ? errors.create('BATCH_OPERATION_NOT_ATOMIC') : undefined
  }
}

// What is refused before the handler can be sent again. Reads can be sent again in any case.
function watchStart(route: RouteOptions) {
  if ([route.method].flat().every((method) => method === 'GET' || method === 'HEAD')) return
  route.config = Object.assign({}, route.config, { [watchedKey]: true })
  route.preHandler = chain('preHandler', route.preHandler, noteStart)
}

const noteStart = stepHook('preHandler', ({ raw }) => {
  const operation = raw as unknown
  if (operation instanceof OperationRequest) operation.hasStarted = true
})

/** Returns whether a route was added by `app.batch`. */
function isBatch({ config }: { readonly config?: object | undefined }): boolean {
  return config !== undefined && batchKey in config
}

const plugin: FastifyPluginAsync<BatchOptions> = fp(batch, { name: '@concordat/batch', fastify: '^5.12.1' })
export default plugin
