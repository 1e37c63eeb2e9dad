import type { Readable } from 'node:stream'
import { observeErrorHandlers } from '@concordat/plugin-kit/api-error'
import { checkAtStart, onEachRoute } from '@concordat/plugin-kit/findings'
import { chain, stepHook, warnWithoutRoutes } from '@concordat/plugin-kit/steps'
import { contractLater, contribute, publish, requireKnownConfig } from '@concordat/plugin-kit/wiring'
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest, RouteHandlerMethod, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import { filesErrors, notMultipart } from './errors.ts'
import { formReader } from './form-fields.ts'
import { loadDetector } from './media-types.ts'
import { operationParts } from './operation-parts.ts'
import { type FilesOptions, filesOptions, type SentFileOptions } from './options.ts'
import { readParts } from './read-parts.ts'
import { sendFile } from './send-file.ts'
import { Stage } from './stage.ts'
import { sweepStaged } from './sweep.ts'
import type { StoredFile, Upload, UploadRules } from './upload.ts'
import { planOf } from './upload-plan.ts'
import { multipart, plainJson, planKey, planOfRoute, refuseByHeaders, requireOwnParser } from './upload-route.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The files of a multipart body, by the name of their part. Its other parts are the fields, which `schema.body` describes. */
    upload?: UploadRules | undefined
  }
  interface FastifyRequest<RouteGeneric, RawServer, RawRequest, SchemaCompiler, TypeProvider, ContextConfig, Logger, RequestType> {
    /** The files of a request to a route with `config.upload`, by name. Its fields are in `body`. They remain stored if the response is a success. */
    readonly upload: Upload<ContextConfig>
  }
  interface FastifyReply {
    /** Sends a file from the store: with its name, an entity tag, and the range that the client asks for. Throws a 416 for a range beyond its end. */
    file(file: StoredFile, options?: SentFileOptions): FastifyReply
  }
}

const stageKey: unique symbol = Symbol('concordat.files.stage')
type UploadRequest = FastifyRequest & { [stageKey]: Stage | null }

/** Reads multipart bodies part by part into a store, and sends files from it. */
const files: FastifyPluginAsync<FilesOptions> = async (app, options) => {
  const { store } = filesOptions.readPlugin(options)
  const transactions = contractLater(app, 'transactions')
  const catalogue = contractLater(app, 'catalogue')
  const readJson = (text: string) => (catalogue()?.readJson ?? plainJson)(text)
  const parsed = new WeakSet<FastifyInstance>()
  await loadDetector()

  requireKnownConfig(app, 'files')
  warnWithoutRoutes(app, 'files')
  contribute(app, 'errors', filesErrors)
  observeErrorHandlers(app)
  contribute(app, 'operations', operationParts)
  publish(app, { comparedParts: (request) => stageOf(request)?.compared })
  app.decorateRequest(stageKey, null)
  app.decorateRequest('upload', {
    getter() {
      return (stageOf(this)?.upload ?? {}) as never
    }
  })
  app.decorateReply('file', function (file: StoredFile, options?: SentFileOptions) {
    return sendFile(this, store, file, options)
  })
  onEachRoute(app, prepareRoute)
  sweepStaged(app, store)

  function prepareRoute(this: FastifyInstance, route: RouteOptions) {
    const rules = route.config?.upload
    if (rules === undefined) return
    const name = `${String(route.method)} ${route.url}`
    const body = (route.schema?.body ?? { type: 'object', additionalProperties: false }) as Record<string, unknown>
    let form: ReturnType<typeof formReader> | undefined
    const plan = planOf({ name, rules, body }, () => (form ??= formReader(body, (id) => this.getSchema(id), readJson)))
    route.schema = { ...route.schema, body }
    route.config = { ...route.config, consumes: ['multipart/form-data'], [planKey]: plan } as object
    route.preParsing = chain('preParsing', route.preParsing, stepHook('preParsing', refuseByHeaders))
    route.handler = handled(route.handler)
    route.onSend = chain('onSend', route.onSend, stepHook('onSend', conclude))
    addParser(this)
    checkAtStart(this, () => requireOwnParser(this, name), route)
  }

  // Only where routes have uploads: a plugin of others may read such bodies elsewhere.
  function addParser(context: FastifyInstance) {
    if (parsed.has(context) || context.hasContentTypeParser(multipart)) return
    parsed.add(context)
    context.addContentTypeParser(multipart, parse)
  }

  async function parse(request: FastifyRequest, body: Readable): Promise<unknown> {
    const plan = planOfRoute(request)
    if (plan === undefined) throw notMultipart()
    const parts = await readParts(body, String(request.headers['content-type']), plan, store)
    const stage = new Stage(parts, plan, store)
    ;(request as UploadRequest)[stageKey] = stage
    try {
      return await stage.readFields(plan.form())
    } catch (error) {
      await stage.drop()
      throw error
    }
  }

  function handled(handler: RouteHandlerMethod): RouteHandlerMethod {
    return function (request, reply) {
      stageOf(request)?.enterHandler(transactions()?.transactionOf(request), reply)
      return handler.call(this, request, reply)
    }
  }
}

function stageOf(request: FastifyRequest) {
  return (request as UploadRequest)[stageKey]
}

function conclude(request: FastifyRequest, reply: FastifyReply) {
  return stageOf(request)?.conclude(reply)
}

const plugin: FastifyPluginAsync<FilesOptions> = fp(files, { name: '@concordat/files', fastify: '^5.12.1' })
export default plugin
