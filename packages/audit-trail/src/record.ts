import { randomUUID } from 'node:crypto'
import { clientNetwork } from '@concordat/plugin-kit/links'
import { contractLater } from '@concordat/plugin-kit/wiring'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { canonicalPath } from './canonical-path.ts'

/** What happened to a request that could change something. Members without a value are absent. */
export interface AuditRecord {
  /** A UUID. */
  readonly id: string
  /** When the response was ready: RFC 3339, in UTC, with milliseconds. */
  readonly occurredAt: string
  /** The id in the header `Request-Id` of the response and in the log. */
  readonly requestId: string
  /** The user. Absent for an anonymous request, and for a client application that acts on its own behalf. */
  readonly subject?: string | undefined
  /** The client application. Absent for an anonymous request, and where the credential does not name it. */
  readonly client?: string | undefined
  /** The issuer of the credential; `api-key` for an API key. Absent for an anonymous request. */
  readonly issuer?: string | undefined
  /** The tenant of the request. Absent without tenants, and on a route without one. */
  readonly tenant?: string | undefined
  /** The permissions that the route requires, whether the client has them or not. */
  readonly permissions: readonly string[]
  readonly method: string
  /** The template of the route, for example `/v1/orders/:id`: at most 1,024 characters. */
  readonly route: string
  /** The template without the version, the same in all of them: `/orders/:id`. Absent in records of releases without it. */
  readonly resource?: string | undefined
  /** The version of the API, for example `v1`. Absent outside the versions. */
  readonly version?: string | undefined
  /**
   * The path, in one spelling however the client wrote it: its parameters are decoded, UUIDs are in lower case, and only what cannot be in a path segment is
   * percent-encoded. Without the query and without tokens, at most 1,024 characters.
   */
  readonly path: string
  /**
   * `committed`: the request succeeded. `refused`: a status of 400 to 499, and nothing was changed. `failed`: a status of 500 or more. On a route with a
   * transaction, nothing remains of it; on other routes, a part may.
   */
  readonly outcome: 'committed' | 'refused' | 'failed'
  readonly status: number
  /** The code of the error response. */
  readonly errorCode?: string | undefined
  /** How many more requests of this client to this route were refused with this error within a minute. They have no records of their own. */
  readonly repetitions?: number | undefined
}

const maxRouteLength = 1024
const maxNameLength = 256

/** The part of a record that follows from the response. */
export type Outcome = Pick<AuditRecord, 'outcome' | 'status' | 'errorCode'>

interface Recorder {
  readonly recordOf: (request: FastifyRequest, reply: FastifyReply) => AuditRecord
  readonly outcomeOf: (reply: FastifyReply) => Outcome
  /** Returns a text that is the same for all requests of a client: of its address or IPv6 /64 network, if it is anonymous. */
  readonly clientKeyOf: (request: FastifyRequest) => string
}

/** Returns the functions that describe requests, with what the other plugins know of them. */
export function recorder(app: FastifyInstance): Recorder {
  const clients = contractLater(app, 'clients')
  const versions = contractLater(app, 'versions')
  const catalogue = contractLater(app, 'catalogue')

  function outcomeOf(reply: FastifyReply): Outcome {
    const { statusCode: status } = reply
    const errorCode = status >= 400 ? catalogue()?.codeOf(reply) : undefined
    return { outcome: status < 400 ? 'committed' : status < 500 ? 'refused' : 'failed', status, ...(errorCode && { errorCode }) }
  }

  return {
    outcomeOf,
    clientKeyOf: (request) => clients()?.clientOf(request) ?? clientNetwork(request.ip),
    recordOf(request, reply) {
      const { method, routeOptions } = request
      const { subject, client, issuer } = clients()?.identityOf(request) ?? {}
      const known = versions()
      const prefix = known?.prefixOf(request) ?? ''
      const route = String(routeOptions.url).slice(0, maxRouteLength)
      return {
        id: randomUUID(),
        occurredAt: new Date().toISOString(),
        requestId: name(request.id),
        ...(subject !== undefined && { subject: name(subject) }),
        ...(client !== undefined && { client: name(client) }),
        ...(issuer !== undefined && { issuer: name(issuer) }),
        ...tenantPart(clients()?.tenantOf?.(request)),
        permissions: permissionsOf(routeOptions.config),
        method,
        route,
        resource: route.slice(prefix.length),
        ...(known && prefix !== '' && { version: known.nameOf(request) }),
        path: canonicalPath(route, request),
        ...outcomeOf(reply)
      }
    }
  }
}

function tenantPart(tenant: string | undefined) {
  return tenant === undefined ? {} : { tenant }
}

function permissionsOf(config: object): readonly string[] {
  return (config as { readonly permissions?: readonly string[] | undefined }).permissions ?? []
}

// Names come from tokens and headers. PostgreSQL cannot store NUL, and UTF-8 has no single surrogates.
function name(text: string) {
  return text.slice(0, maxNameLength).replaceAll('\0', '\uFFFD').toWellFormed()
}
