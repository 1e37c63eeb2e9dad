import { checkAtStart, readEachRoute } from '@concordat/plugin-kit/findings'
import { planStep, varyWith } from '@concordat/plugin-kit/steps'
import { contribute } from '@concordat/plugin-kit/wiring'
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { problemTypesPath, type Settings } from './options.ts'
import { titleOf } from './responses/error-response.ts'
import { isBelow, problemTypes } from './responses/problem-document.ts'

const typeOf: unique symbol = Symbol('concordat.problemTypeOf')
type Carrier = FastifyInstance & { readonly [typeOf]?: ReturnType<typeof problemTypes> }

/** Prepares the routes whose errors can be problem documents, and requires that there are such routes, and the one to which the types lead. */
export function prepareProblemDetails(app: FastifyInstance, settings: Settings): void {
  const { problemDetails: paths, problemTypesPath } = settings
  if (paths.length === 0) return
  const unused = new Set(paths)
  app.decorate(typeOf, problemTypes(settings))
  contribute(app, 'operations', ({ url }) => (isBelow(url, paths) ? { problemDetails: true } : {}))
  readEachRoute(app, ({ url }) => {
    for (const path of unused) if (isBelow(url, [path])) unused.delete(path)
  })
  checkAtStart(app, () => {
    const [path] = unused
    if (path !== undefined)
      throw new TypeError(`error-catalogue: options.problemDetails has ${path}, and no route is below it. Correct the path, or remove it.`)
    if (!app.hasRoute({ method: 'GET', url: problemTypesPath }))
      throw new Error(
        `error-catalogue: options.problemDetails is set, and no route serves ${problemTypesPath}, to which the types of problem documents lead. Register problemTypeRoutes after the other plugins.`
      )
  })
  planStep(app, 'onSend', ({ config: { url = '' }, isUnknown }) => (isUnknown || isBelow(url, paths) ? addVary : undefined))

  function addVary(request: FastifyRequest, reply: FastifyReply): undefined {
    if (isBelow(request.url, paths)) reply.header('vary', varyWith(reply.getHeader('vary'), 'accept'))
  }
}

const text = { type: 'string' }
const problemTypeSchema = {
  type: 'object',
  required: ['type', 'title', 'status', 'code', 'retry', 'remedy'],
  properties: { type: text, title: text, status: { type: 'integer' }, code: text, retry: text, effect: text, remedy: text }
}
const problemTypesSchema = {
  type: 'object',
  required: ['problemTypes'],
  properties: { problemTypes: { type: 'array', items: problemTypeSchema } }
}

// The config keys of plugins that may be missing.
const config = { public: true, operational: true } as object

/**
 * Serves the catalogue at `/problem-types`, to which the `type` of each problem document leads. Register it after all other plugins; the preset does so.
 * Throws an `Error` where `options.problemDetails` of error-catalogue is not set.
 */
export const problemTypeRoutes: FastifyPluginAsync = async (app) => {
  const { [typeOf]: addressOf, errorCatalogue } = app as Carrier
  if (addressOf === undefined)
    throw new Error('error-catalogue: problemTypeRoutes needs options.problemDetails of the plugin. Set it, or remove the routes.')
  app.get(problemTypesPath, { config, schema: { response: { 200: problemTypesSchema } } }, async (request) => ({
    problemTypes: errorCatalogue.entries.map(({ code, statusCode, validation, retry, effect, remedy }) => ({
      type: addressOf(code, request),
      title: titleOf(statusCode, validation),
      status: statusCode,
      code,
      retry,
      effect,
      remedy
    }))
  }))
}
