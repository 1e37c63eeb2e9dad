import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import type { Gauges, Observer } from '../observer/observer.ts'
import type { RequestKey, Transactions } from './transactions.ts'

/** The part of a route that contracts read. Fastify's route options satisfy it. */
export type Route = Pick<RouteOptions, 'method' | 'url' | 'config'>

/** The part of a route that its description reads. Fastify's route options satisfy it. */
export interface DescribedRoute extends Pick<RouteOptions, 'url' | 'config' | 'schema'> {
  readonly method: string | readonly string[]
}

/** What a plugin adds to the description of an operation, in the form of OpenAPI. */
export interface OperationParts {
  /** The codes of the errors with which the plugin can respond. */
  readonly errors?: readonly string[] | undefined
  /** Whether its errors can be problem documents (RFC 9457) too. */
  readonly problemDetails?: boolean | undefined
  readonly parameters?: readonly object[] | undefined
  /** The rate limits of the route. */
  readonly limits?: object | undefined
  /** The files in a multipart body, by name: `{ schema, isRequired, contentType? }`. They are beside the members of the body schema. */
  readonly files?: Readonly<Record<string, object>> | undefined
  /** Response headers by name. `statuses` limits a header to some status codes (`2XX`, `201`). @default all status codes */
  readonly headers?: Readonly<Record<string, object>> | undefined
}

/** A request whose response bypasses the hooks. What a member tells is known if the request reached the router. */
export interface BypassingRequest {
  readonly headers: IncomingHttpHeaders
  readonly id?: string | undefined
  readonly protocol?: string | undefined
  readonly routeOptions?: FastifyRequest['routeOptions'] | undefined
}

/** What any number of plugins contribute, each for whichever plugin uses it. */
export interface Contributions {
  /** The errors that a plugin raises, for the catalogue of the service. */
  readonly errors: object
  /** Returns what a plugin adds to the description of the operation of a route. */
  readonly operations: (route: DescribedRoute) => OperationParts
  /** The ids of the rules that a plugin checks, so that a route may waive them. */
  readonly rules: readonly string[]
  /** Returns the headers that a plugin sets on every response, for a response that no hook sees. */
  readonly earlyHeaders: (request: BypassingRequest) => Readonly<Record<string, string>>
  /** What operators can read of a plugin at any time. */
  readonly gauges: Gauges
  /** The name of a collection whose deleted rows are removed when their time has passed. */
  readonly retention: string
}

/** The contracts that plugins can publish on a Fastify instance, each by one plugin, for any other that is registered there or below. */
export interface Contracts {
  /**
   * Returns whether a route, which is registered on `app`, belongs to the API: it is registered in a version, or is operational. All other
   * routes are ordinary Fastify routes. Without this contract, every route belongs to the API.
   */
  readonly belongsToApi: (app: FastifyInstance, route: Route) => boolean
  /** Returns whether a schema library validates and transforms the successful responses of a route before they are serialized. */
  readonly checksResponse: (route: Route) => boolean
  /** What the plugin that puts responses into an envelope offers to plugins that send or tag responses. */
  readonly envelope: {
    /** Returns whether the successful responses of a route, which is registered on `app`, are in the envelope. */
    readonly wraps: (app: FastifyInstance, route: Route) => boolean
    /** Marks a reply whose payload is already in the envelope, such as a stored response. */
    readonly markReplayed: (request: FastifyRequest, reply: FastifyReply) => void
    /** Returns how many characters at the end of a serialized response differ each time: the timestamp and what follows it. */
    readonly volatileTail: (reply: FastifyReply, payload: string) => number
  }
  /** What the plugin that serves collections offers to the plugins that put responses and errors into an envelope. */
  readonly pages: {
    /** Returns the fields by which the route of a request filters, or undefined for a route without pages. */
    readonly filters: (request: FastifyRequest) => Pick<ReadonlySet<string>, 'has'> | undefined
    /** Returns the schemas of the members that pages add to `_meta`, by name, or undefined for a route without pages. */
    readonly meta: (route: RouteOptions) => Readonly<Record<string, object>> | undefined
    /** Returns the links and the members of `_meta` of a response. */
    readonly parts: (
      request: FastifyRequest,
      reply: FastifyReply
    ) => {
      readonly links?: readonly { readonly rel: string; readonly href: string; readonly method: string }[] | undefined
      readonly meta?: Readonly<Record<string, unknown>> | undefined
    }
    /** Returns the JSON text of a list that is written already, without what its schema does not declare. */
    readonly text?: ((reply: FastifyReply, payload: unknown) => string | undefined) | undefined
    /**
     * Returns the related resources that are added to a response after it is tagged, as text, empty before they are read and for a list that is only
     * filtered by them; undefined for a request that uses none.
     */
    readonly included?: ((request: FastifyRequest) => string | undefined) | undefined
  }
  /** What the plugin that negotiates content offers to the plugin that tags responses. */
  readonly negotiated: {
    /** Returns the media type that the response to a request should have. */
    readonly mediaTypeOf: (request: FastifyRequest) => string
    /** Returns the locale of the service that a request prefers. */
    readonly localeOf: (request: FastifyRequest) => string
  }
  /** Returns what a retry has in common with the parts of a body that were read: values, and digests of files; undefined for a body without parts. */
  readonly comparedParts: (request: FastifyRequest) => object | undefined
  /** Returns the methods that a URL has, with OPTIONS, or an empty array for a URL without a route. */
  readonly allowedMethods: (request: FastifyRequest) => readonly string[]
  /**
   * Registers what must happen when all tokens of a user are revoked, with the `sub` of the tokens and the owners that the plugin derives from it by default.
   * The revocation fails if the listener does. The end of a single session is not reported.
   */
  readonly onSubjectRevoked: (listener: (subject: string, owners: readonly string[]) => Promise<void>) => void
  /** The version of the API that a request belongs to, and the beginning of its paths. */
  readonly versions: {
    /** Returns the version, for example `v1`; outside the versions, the newest current version. */
    readonly nameOf: (request?: FastifyRequest) => string
    /** Returns the prefix of the paths of the version, for example `/v1`; `''` outside the versions. */
    readonly prefixOf: (request: FastifyRequest) => string
    /** Returns whether a route that was registered before authentication declares in its config who may use it. */
    readonly declaresAccess: (route: { readonly method: string; readonly url: string }) => boolean
  }
  /** What authentication knows of the client that makes a request. */
  readonly clients: {
    /** Returns an id of issuer, client application, user and tenant; `undefined` for an anonymous request. */
    readonly clientOf: (request: FastifyRequest) => string | undefined
    /** Returns an id of issuer and user, whichever the client application and the tenant; `undefined` for an anonymous request. */
    readonly ownerOf: (request: FastifyRequest) => string | undefined
    /** Returns the issuer of the credential, the client application and the user, as far as they are known; `undefined` for an anonymous request. */
    readonly identityOf: (request: FastifyRequest) => Readonly<Record<'issuer' | 'client' | 'subject', string | undefined>> | undefined
    /** Returns the tenant of a request; `undefined` for an anonymous request, and on a route without a tenant. Absent in a service without tenants. */
    readonly tenantOf?: ((request: FastifyRequest) => string | undefined) | undefined
    /** Returns whether the response is only for this client. */
    readonly isPrivate: (request: FastifyRequest) => boolean
    /** The names of the request headers that identify a client, in lower case. */
    readonly credentialHeaders: readonly string[]
    /** The OpenAPI security schemes by name. */
    readonly securitySchemes: Readonly<Record<string, object>>
    /** Authenticates a request to a public route. Rejects with 401, or with 403 for a client without the permissions. */
    readonly requirePermissions: (request: FastifyRequest, permissions: readonly string[]) => Promise<void>
    /** Returns whether a policy of the service decides about single objects for which clients need a permission. */
    readonly hasPolicy: (permission: string) => boolean
  }
  /** The transactions in which routes with `config.transaction` run. */
  readonly transactions: Transactions
  /** What the plugin that repeats responses offers. */
  readonly idempotency: {
    /** Returns the idempotency key under which a request runs. */
    readonly keyOf: (request: FastifyRequest) => RequestKey | null
    /** Returns whether the response to a request is that of an earlier request, which is sent again. */
    readonly isReplay: (request: FastifyRequest) => boolean
    /** Returns whether an error response with this status code is stored with the key of the request, so that a retry gets it again. */
    readonly isStored: (request: FastifyRequest, statusCode: number) => boolean
    /** Notes that a request failed before its handler began, so that a retry with its idempotency key may run. */
    readonly handlerNotStarted: (request: FastifyRequest) => void
  }
  /** Requests that are executed as several further requests. */
  readonly batches: {
    /** Returns whether a request is a part of another request, such as an operation of a batch. */
    readonly isPart: (request: FastifyRequest) => boolean
    /** Returns whether a request is executed as several further requests, such as a batch. */
    readonly hasParts: (request: FastifyRequest) => boolean
  }
  /** The errors of the service, and what makes responses of them. */
  readonly catalogue: {
    /** All errors of the service. The list grows until the service is ready. */
    readonly entries: readonly object[]
    /** Returns the code of the error response that a reply got, or undefined for a success and for a code that is not in the catalogue. */
    readonly codeOf: (reply: FastifyReply) => string | undefined
    /** Responds with an error at once, without the `onError` and `onSend` hooks, where a response must cost as little as possible. */
    readonly respondAtOnce: (request: FastifyRequest, reply: FastifyReply, error: Error) => void
    /** The maximum length of a request URI, in characters. Longer ones get 414. */
    readonly maxUriLength: number
    /** Returns the value of a JSON text in a part of a body, within the limits of JSON bodies. In it, a number that has lost digits is infinite. */
    readonly readJson: (text: string) => Promise<unknown>
  }
  /** The time limit of handlers. */
  readonly handlerTimeout: {
    /** The limit of a route that sets none; 0 for none. */
    readonly seconds: number
    /** Ends the measurement of a reply, which gets its response without `onSend` hooks. */
    readonly release: (reply: FastifyReply) => void
  }
  /** What plugins report to operators. It is published before the plugins that use it are registered. */
  readonly observer: Observer
  /** The value of `config.cache` of a route that does not set it. */
  readonly defaultCache: unknown
  /** Returns the webhook events of a version by type, as OpenAPI path items. */
  readonly webhookEvents: (version: number) => Readonly<Record<string, object>>
  /** Returns the links from a version to its description. A path is absolute. */
  readonly descriptionLinks: (version: string) => readonly { readonly rel: string; readonly path: string }[]
  /** Marks that a request waits for another request or for a job, so that it does not count as in flight. The returned function ends the wait. */
  readonly awaitingAnother: (request: FastifyRequest) => () => void
}
