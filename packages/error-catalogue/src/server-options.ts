import type { Duplex } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { positiveInteger } from './options.ts'
import { buildValidator, type ValidatorBuilder } from './validators.ts'

/** The limits that only Fastify's constructor can set (rule X6). */
export interface ErrorCatalogueServerOptions {
  /**
   * The largest body a route takes when it sets no `bodyLimit` of its own.
   * @default 1048576
   */
  readonly bodyLimitBytes?: number
  /**
   * The longest value of one path parameter, in characters.
   * @default 256
   */
  readonly maxParameterLength?: number
}

/** The part of `Fastify({...})` that the error catalogue needs. */
export interface ErrorCatalogueServerPart {
  readonly bodyLimit: number
  readonly return503OnClosing: false
  readonly http: { readonly requireHostHeader: false }
  readonly routerOptions: { readonly ignoreTrailingSlash: true; readonly maxParamLength: number }
  readonly schemaController: { readonly compilersFactory: { readonly buildValidator: ValidatorBuilder } }
  readonly frameworkErrors: (error: Error, request: RefusedRequest, reply: RefusedReply) => void
  readonly clientErrorHandler: (error: Error, socket: Duplex) => void
}

// As much of request and reply as HTTP/1 and HTTP/2 have in common, so that the part fits both.
interface RefusedRequest {
  readonly server: object
}
interface RefusedReply {
  readonly raw: { writeHead(statusCode: number): { end(): unknown } }
}

/** Under this name the plugin leaves, on the instance, the function that answers what the router refuses. */
export const answerRefusedUrl: unique symbol = Symbol('concordat.answerRefusedUrl')

type Answering = object & { readonly [answerRefusedUrl]?: ErrorCatalogueServerPart['frameworkErrors'] }

/**
 * What `Fastify({ ...errorCatalogueServerOptions() })` must have for the catalogue to cover everything: the two validators,
 * the answers to URLs that the router refuses, and the limits. Throws a `TypeError` for a limit that makes no sense.
 */
export function errorCatalogueServerOptions(options: ErrorCatalogueServerOptions = {}): ErrorCatalogueServerPart {
  return {
    bodyLimit: positiveInteger('bodyLimitBytes', options.bodyLimitBytes ?? 1_048_576),
    // The plugin refuses what arrives while closing, in the envelope. What a request in flight injects is part of that request.
    return503OnClosing: false,
    // Also for the second address of localhost, which the plugin never sees: its requests without a Host reach the hooks.
    http: { requireHostHeader: false },
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: positiveInteger('maxParameterLength', options.maxParameterLength ?? 256) },
    schemaController: { compilersFactory: { buildValidator } },
    frameworkErrors(error, request, reply) {
      const answer = (request.server as Answering)[answerRefusedUrl]
      if (answer) answer(error, request, reply)
      // Without the plugin there is no envelope to answer in.
      else reply.raw.writeHead(400).end()
    },
    clientErrorHandler: concordatClientError
  }
}

// Replaced by the plugin; its name tells the plugin that these options were given to the constructor.
function concordatClientError(_error: Error, socket: Duplex) {
  socket.destroy()
}

/** Tells whether the instance was made with {@link errorCatalogueServerOptions}. */
export function hasServerOptions(app: FastifyInstance): boolean {
  return app.server.listeners('clientError').some(({ name }) => name === 'bound concordatClientError')
}
