import { readEachRoute } from '@concordat/plugin-kit/findings'
import { describeOptions } from '@concordat/plugin-kit/options'
import { planStep, type StepRoute, warnWithoutRoutes } from '@concordat/plugin-kit/steps'
import { contractOf, isOutside, publish, requireKnownConfig } from '@concordat/plugin-kit/wiring'
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import { foreignCompiler } from './compilers.ts'
import { checkRequest } from './request-check.ts'
import { responseCheck } from './response-check.ts'
import { nameOf, type RequestCheck, routeChecks } from './route-schema.ts'
import { requireNoTransforms } from './typebox-transforms.ts'

const noOptions = describeOptions('standard-schema', {})
const requestChecks: unique symbol = Symbol('concordat.requestChecks')
const hasResponseCheck: unique symbol = Symbol('concordat.hasResponseCheck')
type CheckedConfig = { readonly [requestChecks]?: readonly RequestCheck[]; readonly [hasResponseCheck]?: boolean }

/**
 * Accepts the schemas of Zod, Valibot, ArkType and other Standard Schema libraries in the `schema` of routes. Their JSON Schemas replace them. The
 * library then validates what JSON Schema cannot express, and transforms requests and responses.
 */
const standardSchema: FastifyPluginAsync = async (app, options) => {
  noOptions.readPlugin(options)
  if (contractOf(app, 'pages') !== undefined || contractOf(app, 'envelope') !== undefined)
    throw new Error(
      'standard-schema: the plugin is registered after @concordat/pagination-query or @concordat/envelope, which read the schemas of routes. Register it before.'
    )

  requireKnownConfig(app, 'standard-schema')
  warnWithoutRoutes(app, 'standard-schema')
  publish(app, { checksResponse: ({ config }) => (config as CheckedConfig | undefined)?.[hasResponseCheck] === true })
  readEachRoute(app, checkRoute)
  // The first hook of this kind, so that all others receive the output of the schemas.
  planStep(app, 'preHandler', ({ config }) => (requestChecks in config ? checkOnce : undefined))
}

function checkRoute(this: FastifyInstance, route: RouteOptions) {
  const compiler = foreignCompiler(this, route)
  // An ordinary route whose context validates with the library itself, for example with the compilers of its type provider.
  if (compiler !== undefined && isOutside(this, route)) return
  if (compiler === undefined) requireNoTransforms(route)
  const { schema, requests, responses } = routeChecks(route)
  if (requests.length + responses.size === 0) return
  if (compiler !== undefined)
    throw new TypeError(
      `standard-schema: ${nameOf(route)} has a schema of a library, but ${compiler} set a compiler that does not accept JSON Schema. Remove that call: the plugin validates and serializes schemas of the library itself.`
    )
  // New objects, because the author may use the same objects for another route.
  route.schema = schema
  const checks: CheckedConfig = { [requestChecks]: requests, [hasResponseCheck]: responses.size > 0 }
  route.config = Object.assign({}, route.config, checks)
  if (responses.size > 0) route.preSerialization = [route.preSerialization ?? [], responseCheck(responses)].flat()
}

function checkOnce(request: FastifyRequest, _reply: FastifyReply, { config }: StepRoute) {
  const { [requestChecks]: checks = [] } = config as CheckedConfig
  return request.validationError === undefined ? checkRequest(checks, request) : undefined
}

const plugin: FastifyPluginAsync = fp(standardSchema, { name: '@concordat/standard-schema', fastify: '^5.12.1' })
export default plugin
