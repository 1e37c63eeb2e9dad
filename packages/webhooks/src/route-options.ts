import type { FastifyContextConfig, FastifyReply, FastifyRequest } from 'fastify'
import type { DeliveryStatus } from './delivery.ts'
import type { PageWish } from './store.ts'

/** The operations of `webhookRoutes`. */
export type WebhookOperation =
  | 'listSubscriptions'
  | 'createSubscription'
  | 'readSubscription'
  | 'changeSubscription'
  | 'removeSubscription'
  | 'rotateSecret'
  | 'ping'
  | 'listDeliveries'
  | 'readDelivery'
  | 'listAttempts'
  | 'redeliver'
  | 'recover'

/** The preconditions of a request, as far as they are used here. */
export interface Preconditions {
  /** The versions that the change may find; `'*'` any, `null` no condition. */
  versions(): readonly string[] | '*' | null
  /** What to throw when it finds another. */
  failed(currentVersion?: string | number): Error
}

/** A list that is asked for. */
export interface ListWish {
  readonly operation: 'listSubscriptions' | 'listDeliveries' | 'listAttempts'
  /** What they belong to: an owner, the id of a subscription, the id of a delivery. */
  readonly parent: string
  /** Reads a part of it from the store, as resources; those of a status where deliveries are listed. */
  readonly resources: (page: PageWish & { readonly status?: DeliveryStatus | undefined }) => Promise<Record<string, unknown>[]>
}

/** What the routes can be told. */
export interface WebhookRoutesOptions {
  /** Who asks: subscriptions belong to their owner, and nobody else sees them. Where it answers undefined, the request is refused. */
  readonly owner: (request: FastifyRequest) => string | undefined
  /**
   * The path of the subscriptions, below the prefix of the context.
   * @default '/webhook-subscriptions'
   */
  readonly path?: string | undefined
  /**
   * The version of the interface whose events a new subscription gets.
   * @default () => 1
   */
  readonly version?: ((request: FastifyRequest) => number) | undefined
  /**
   * `config` of each route, as permissions, collections and idempotency.
   * @default () => ({})
   */
  readonly routeConfig?: ((operation: WebhookOperation) => FastifyContextConfig) | undefined
  /**
   * Answers 201 with a new resource at a path below the prefix.
   * @default sets the status and `Location`
   */
  readonly created?: ((reply: FastifyReply, path: string, resource: Record<string, unknown>) => unknown) | undefined
  /**
   * Answers with a part of a list.
   * @default `perPage` and `after`, the id of the last that was seen, and `Link` to the next
   */
  readonly list?: ((request: FastifyRequest, reply: FastifyReply, wish: ListWish) => unknown) | undefined
  /**
   * What the client asked of the version that its change is meant for.
   * @default nothing
   */
  readonly preconditions?: ((request: FastifyRequest) => Preconditions) | undefined
  /**
   * Is told the version of the subscription that an answer to a creation or a change shows, for its entity tag.
   * @default nothing
   */
  readonly entityTag?: ((reply: FastifyReply, version: string) => unknown) | undefined
  /**
   * Adds a link to an answer: to what belongs to a subscription or a delivery, and to what can be done with it. The path is below the prefix.
   * @default nothing
   */
  readonly link?: ((reply: FastifyReply, relation: string, path: string, method: 'GET' | 'POST') => unknown) | undefined
}

/** The options as the routes work with them. */
export type RouteSettings = Required<{ [Name in keyof WebhookRoutesOptions]: NonNullable<WebhookRoutesOptions[Name]> }> & {
  readonly ownList: boolean
}

/** Fills in the defaults. Throws a `TypeError` with one line for what can't work. */
export function resolveRouteOptions(options: WebhookRoutesOptions): RouteSettings {
  const { owner, path = '/webhook-subscriptions' } = options
  if (typeof owner !== 'function') throw new TypeError('webhooks: owner is missing. Give a function from the request to who asks.')
  if (!/^(\/[a-z\d-]+)+$/.test(path)) throw new TypeError(`webhooks: path is "${path}". Give one as "/webhook-subscriptions".`)
  return {
    owner,
    path,
    version: options.version ?? (() => 1),
    routeConfig: options.routeConfig ?? (() => ({})),
    created: options.created ?? sendCreated,
    list: options.list ?? sendList,
    ownList: options.list === undefined,
    entityTag: options.entityTag ?? (() => {}),
    link: options.link ?? (() => {}),
    preconditions: options.preconditions ?? (() => ({ versions: () => null, failed: () => new Error() }))
  }
}

function sendCreated(reply: FastifyReply, path: string, resource: Record<string, unknown>) {
  return reply
    .code(201)
    .header('location', reply.server.prefix + path)
    .send(resource)
}

async function sendList(request: FastifyRequest, reply: FastifyReply, wish: ListWish) {
  const { perPage, after, ...others } = request.query as { perPage: number; after?: string; status?: DeliveryStatus }
  const found = await wish.resources({ limit: perPage + 1, after, ...others })
  const page = found.slice(0, perPage)
  if (found.length > perPage) {
    const query = new URLSearchParams({ ...others, perPage: String(perPage), after: String(page.at(-1)?.['id']) })
    reply.header('link', `<${request.url.split('?', 1).join()}?${query.toString()}>; rel="next"`)
  }
  return page
}
