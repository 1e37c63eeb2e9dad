import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'

/** The part of a route that contracts read. Fastify's route options satisfy it. */
export type Route = Pick<RouteOptions, 'method' | 'url' | 'config'>

/** The contracts that plugins can publish on a Fastify instance, each by one plugin, for any other that is registered there or below. */
export interface Contracts {
  /**
   * Returns whether a route, which is registered on `app`, belongs to the API: it is registered in a version, or is operational. All other
   * routes are ordinary Fastify routes. Without this contract, every route belongs to the API.
   */
  readonly belongsToApi: (app: FastifyInstance, route: Route) => boolean
  /** Returns whether a route that was registered before authentication declares in its config who may use it. */
  readonly declaresAccess: (route: { readonly method: string; readonly url: string }) => boolean
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
  }
  /** What the plugin that negotiates content offers to the plugin that tags responses. */
  readonly negotiated: {
    /** Returns the media type that the response to a request should have. */
    readonly mediaTypeOf: (request: FastifyRequest) => string
    /** Returns the locale of the service that a request prefers. */
    readonly localeOf: (request: FastifyRequest) => string
  }
  /** The maximum length of a request URI, in characters. Longer ones get 414. */
  readonly maxUriLength: number
  /** Notes that a request failed before its handler began, so that a retry with its idempotency key may run. */
  readonly handlerNotStarted: (request: FastifyRequest) => void
  /** Returns the methods that a URL has, with OPTIONS, or an empty array for a URL without a route. */
  readonly allowedMethods: (request: FastifyRequest) => readonly string[]
  /** Returns whether a request is a part of another request, such as an operation of a batch. */
  readonly isPart: (request: FastifyRequest) => boolean
  /** Returns whether requests to the same route already wait too long, for example for a connection to the database. */
  readonly isCongested: (request: FastifyRequest) => boolean
  /**
   * Registers what must happen when all tokens of a user are revoked, with the `sub` of the tokens and the owners that the plugin derives from it by default.
   * The revocation fails if the listener does. The end of a single session is not reported.
   */
  readonly onSubjectRevoked: (listener: (subject: string, owners: readonly string[]) => Promise<void>) => void
  /** Responds with an error at once, without the `onError` and `onSend` hooks, where a response must cost as little as possible. */
  readonly respondAtOnce: (request: FastifyRequest, reply: FastifyReply, error: Error) => void
  /** Ends what a plugin keeps for a reply until its `onSend` hook, because the reply gets its response without hooks. */
  readonly releaseReply: (reply: FastifyReply) => void
  /** Marks that a request waits for another request or for a job, so that it does not count as in flight. The returned function ends the wait. */
  readonly awaitingAnother: (request: FastifyRequest) => () => void
}

// Registered, so that two copies of this module find the same contracts.
const contractsKey: unique symbol = Symbol.for('concordat.contracts') as never
const errorsKey: unique symbol = Symbol.for('concordat.errors') as never

interface Wired {
  [contractsKey]?: Partial<Contracts>
  [errorsKey]?: object[]
}

/** Publishes contracts on an instance, where the instance itself and its children find them. */
export function publish(app: FastifyInstance, contracts: Partial<Contracts>): void {
  if (Object.hasOwn(app, contractsKey)) Object.assign((app as Wired)[contractsKey] as object, contracts)
  else app.decorate(contractsKey, { ...contracts })
}

/** Returns the contract that was published on the instance or the nearest instance around it, or undefined. */
export function contractOf<Name extends keyof Contracts>(app: FastifyInstance, name: Name): Contracts[Name] | undefined {
  for (let instance: object | null = app; instance !== null; instance = Object.getPrototypeOf(instance)) {
    const contract = Object.hasOwn(instance, contractsKey) ? (instance as Required<Wired>)[contractsKey][name] : undefined
    if (contract !== undefined) return contract
  }
  return undefined
}

/** Publishes the errors that a plugin raises, for the catalogue of the service, wherever it is registered. */
export function publishErrors(app: FastifyInstance, errors: object): void {
  const lists = publishedErrors(app) as object[]
  if (!lists.includes(errors)) lists.push(errors)
}

/** Returns the lists of errors that the plugins of the service have published until now, in the order of their registration. The array grows. */
export function publishedErrors(app: FastifyInstance): readonly object[] {
  const wired = app as Wired
  // On the root instance, because a catalogue may be registered beside the plugins, or in a child.
  if (wired[errorsKey] === undefined) rootOf(app).decorate(errorsKey, [])
  return wired[errorsKey] as readonly object[]
}

/** Returns whether the instance is the root instance, and not a child context. */
export function isRoot(app: FastifyInstance): boolean {
  return rootOf(app) === app
}

/** Returns the root instance of the server. */
export function rootOf(app: FastifyInstance): FastifyInstance {
  const parent = Object.getPrototypeOf(app) as FastifyInstance
  return 'printRoutes' in parent ? rootOf(parent) : app
}
