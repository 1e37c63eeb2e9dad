import type { Duplex } from 'node:stream'
import { withoutStack } from '@concordat/plugin-kit/api-error'
import { controlOf, serverFactory } from '@concordat/plugin-kit/server'
import { isRoot } from '@concordat/plugin-kit/wiring'
import type { FastifyInstance } from 'fastify'
import { buildValidator, type ValidatorBuilder } from '../schemas/validators.ts'
import { respondToBadBytes } from './wire.ts'

/** The key of the instance property that contains the function that responds to URLs that the router rejects. The plugin sets it. */
export const respondToRefusedUrl: unique symbol = Symbol('concordat.respondToRefusedUrl')

// What HTTP/1 and HTTP/2 have in common, so that the options fit both.
interface RefusedRequest {
  readonly server: object & { readonly [respondToRefusedUrl]?: (error: Error, request: RefusedRequest, reply: RefusedReply) => void }
}
interface RefusedReply {
  readonly raw: { writeHead(statusCode: number): { end(): unknown } }
}

// Named, because a declaration of its own type would refer to a package that this one does not have.
const schemaController: { compilersFactory: { buildValidator: ValidatorBuilder } } = { compilersFactory: { buildValidator } }

/** The part of the options of `Fastify({...})` that the error catalogue requires. */
export interface ErrorCatalogueServerPart extends ReturnType<typeof errorCatalogueServerOptions> {}

/**
 * Returns what `Fastify({ ...errorCatalogueServerOptions() })` needs so that the catalogue covers all errors (rule X6). To change its limits, set
 * `bodyLimit` (512 KiB) or `routerOptions.maxParamLength` (256 characters) after it.
 */
export function errorCatalogueServerOptions() {
  return {
    bodyLimit: 524_288,
    // A closing server serves the requests that still arrive, with Connection: close. It stops the service only after their responses.
    return503OnClosing: false as const,
    routerOptions: { maxParamLength: 256 },
    schemaController,
    schemaErrorFormatter: (errors: readonly InvalidPart[], part: string) => withoutStack(() => new Error(textOf(errors, part))),
    frameworkErrors(error: Error, request: RefusedRequest, reply: RefusedReply) {
      const respond = request.server[respondToRefusedUrl]
      if (respond) respond(error, request, reply)
      // The envelope requires the plugin.
      else reply.raw.writeHead(400).end()
    },
    clientErrorHandler: concordatClientError,
    serverFactory
  }
}

interface InvalidPart {
  readonly instancePath?: string | undefined
  readonly message?: string | undefined
}

// The text that Fastify gives to such an error, for the error handlers of the application.
function textOf(errors: readonly InvalidPart[], part: string) {
  return errors.map(({ instancePath = '', message }) => `${part}${instancePath} ${message}`).join(', ')
}

// Fastify calls it with the root instance as `this`.
function concordatClientError(this: object, error: Error, socket: Duplex) {
  const respond = (this as { readonly [respondToBadBytes]?: (error: Error, socket: Duplex) => void })[respondToBadBytes]
  if (respond) respond(error, socket)
  else socket.destroy()
}

/** Returns whether the instance was created with {@link errorCatalogueServerOptions}. */
export function hasServerOptions(app: FastifyInstance): boolean {
  return controlOf(app)?.options.clientErrorHandler === concordatClientError
}

const uncoveredByPlugin =
  'Fastify and Node.js respond themselves to malformed URLs, to a missing Host, to unknown methods and while the server closes, requests that a client pipelines are processed at the same time, and an error of genReqId or of a listener of the server ends the process'

/**
 * Returns whether the server has {@link errorCatalogueServerOptions}, and logs what the plugin does not cover without them. Throws an error in a child
 * context of such a server, because the options change the responses of the whole server, which has no catalogue.
 */
export function checkServerOptions(app: FastifyInstance): boolean {
  const isSet = hasServerOptions(app)
  if (isRoot(app)) {
    if (!isSet)
      app.log.warn(
        `error-catalogue: Fastify was created without errorCatalogueServerOptions(), so ${controlOf(app) === undefined ? uncoveredByPlugin : 'it responds to malformed URLs itself'}. Pass errorCatalogueServerOptions() to Fastify().`
      )
    return isSet
  }
  if (isSet)
    throw new Error(
      'error-catalogue: the plugin is registered in a child context, but errorCatalogueServerOptions() changes the whole server. Register the plugin on the root instance, or create Fastify without errorCatalogueServerOptions().'
    )
  app.log.info(
    `error-catalogue: the plugin covers only the routes ${app.prefix === '' ? 'of its context' : `below ${app.prefix}`}. The service responds to malformed URLs and to bytes that are not HTTP as before.`
  )
  return false
}
