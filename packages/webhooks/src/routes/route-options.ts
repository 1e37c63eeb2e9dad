import { optionChecks, requirePluginNames } from '@concordat/plugin-options'
import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest, FastifySchema } from 'fastify'
import { clientNotIdentified } from '../errors.ts'
import type { DeliveryStatus } from '../store/delivery.ts'
import type { PageSelection } from '../store/store.ts'

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
  | ManagingOperation

/** The operations of `managedWebhookRoutes`. */
export type ManagingOperation =
  | 'listManagedSubscriptions'
  | 'readManagedSubscription'
  | 'changeManagedSubscription'
  | 'removeManagedSubscription'

/** The part of the preconditions of a request that the routes use. */
interface Preconditions {
  /** Returns the subscription versions that the request requires; `'*'` for any version, `null` for no condition. */
  versions(): readonly string[] | '*' | null
  /** Returns the error to throw when the current version is a different one. */
  failed(currentVersion?: string | number): Error
}

/** The input of the `list` option: which list was requested, and a function that reads it. */
export interface WebhookListInput {
  readonly operation: 'listSubscriptions' | 'listDeliveries' | 'listAttempts' | 'listManagedSubscriptions'
  /** The parent of the items: an owner, the id of a subscription, or the id of a delivery; undefined for the subscriptions of all owners. */
  readonly parent: string | undefined
  /** Reads a page of the list from the store and returns its items as API resources. Deliveries can be filtered by status. */
  readonly resources: (page: PageSelection & { readonly status?: DeliveryStatus | undefined }) => Promise<Record<string, unknown>[]>
  /** Returns the number of items of the list, or `limit` if there are more. Deliveries can be filtered by status. */
  readonly count: (limit: number, status?: DeliveryStatus) => Promise<number>
}

/** Options of `webhookRoutes`. */
export interface WebhookRoutesOptions {
  /**
   * Returns the owner of the subscriptions that a request can access. Only the owner of a subscription has access to it. When it returns
   * undefined, the request gets 400 `CLIENT_NOT_IDENTIFIED`.
   */
  readonly owner: (request: FastifyRequest) => string | undefined
  /**
   * The header by which `owner` identifies a client. The 400 response to a request without an owner names it.
   * @default 'Authorization'
   */
  readonly clientHeader?: string | undefined
  /**
   * Returns the audience of a new subscription, for the events that name their `audiences`. It is stored with the subscription.
   * @default the owner
   */
  readonly audienceOf?: ((request: FastifyRequest) => string | undefined) | undefined
  /**
   * The path of the subscriptions, relative to the prefix of the context.
   * @default '/webhook-subscriptions'
   */
  readonly path?: string | undefined
  /**
   * Returns the API version that determines the form of the events for a new subscription.
   * @default () => 1
   */
  readonly version?: ((request: FastifyRequest) => number) | undefined
  /**
   * Returns the `config` of a route, for example permissions, collections and idempotency.
   * @default () => ({})
   */
  readonly routeConfig?: ((operation: WebhookOperation) => FastifyContextConfig) | undefined
  /**
   * Sets the status code 201 and the location of a new resource, and returns the body. The path is relative to the prefix. A response with 202
   * then changes the status code, and its location is where its progress can be read.
   * @default sets the status code and `Location`
   */
  readonly created?: ((reply: FastifyReply, path: string, resource: Readonly<Record<string, unknown>>) => unknown) | undefined
  /**
   * Responds with a page of a list.
   * @default reads `perPage` and `after`, the id of the last item of the previous page, and adds a `Link` to the next page
   */
  readonly list?: ((request: FastifyRequest, reply: FastifyReply, input: WebhookListInput) => unknown) | undefined
  /**
   * Returns the preconditions of a request, for example from its `If-Match` header.
   * @default no preconditions
   */
  readonly preconditions?: ((request: FastifyRequest) => Preconditions) | undefined
  /**
   * Sets the entity tag of the response after a subscription is created or changed.
   * @default does nothing
   */
  readonly entityTag?: ((reply: FastifyReply, version: string) => unknown) | undefined
  /**
   * Adds a link to the response for a subscription or a delivery: to a related resource or to an operation. The path is below the prefix.
   * @default does nothing
   */
  readonly link?: ((reply: FastifyReply, relation: string, path: string, method: 'GET' | 'POST') => unknown) | undefined
}

/** Options of `managedWebhookRoutes`, with the same meaning as those of `webhookRoutes`. The default of `path` is '/managed-webhook-subscriptions'. */
export interface ManagedWebhookRoutesOptions extends Pick<WebhookRoutesOptions, 'path' | 'list' | 'preconditions' | 'entityTag' | 'link'> {
  /** Returns the `config` of a route. Required, because it says who is an administrator, for example by a permission. */
  readonly routeConfig: (operation: WebhookOperation) => FastifyContextConfig
}

const { headerName } = optionChecks('webhooks')

type Defaulted = Omit<WebhookRoutesOptions, 'owner' | 'clientHeader' | 'preconditions'>

/** The options with their defaults. */
export type RouteSettings = Required<{ [Name in keyof Defaulted]: NonNullable<Defaulted[Name]> }> &
  Pick<WebhookRoutesOptions, 'preconditions'> & {
    /** Returns the owner of the subscriptions that a request can access. Throws 400 when there is none. */
    readonly owner: (request: FastifyRequest) => string
    readonly ownList: boolean
  }

/** Returns the options with their defaults. Throws a `TypeError` with a one-line message for invalid options. */
export function resolveRouteOptions(options: WebhookRoutesOptions): RouteSettings {
  requirePluginNames('webhooks', options, {
    owner: true,
    clientHeader: true,
    audienceOf: true,
    path: true,
    version: true,
    routeConfig: true,
    created: true,
    list: true,
    preconditions: true,
    entityTag: true,
    link: true
  })
  const { owner, path = '/webhook-subscriptions' } = options
  if (typeof owner !== 'function')
    throw new TypeError('webhooks: options.owner must be a function that returns the owner of the subscriptions for a request.')
  if (!/^(\/[a-z\d-]+)+$/.test(path))
    throw new TypeError(`webhooks: options.path must be a path such as "/webhook-subscriptions", but is "${path}".`)
  const clientHeader = headerName('options.clientHeader', options.clientHeader ?? 'Authorization')
  return {
    owner(request) {
      const known = owner(request)
      if (known) return known
      request.log.info(
        'webhooks: options.owner returned no owner for this request. Accept only authenticated clients on the webhook routes.'
      )
      throw clientNotIdentified(clientHeader)
    },
    audienceOf: options.audienceOf ?? (() => undefined),
    path,
    version: options.version ?? (() => 1),
    routeConfig: options.routeConfig ?? (() => ({})),
    created: options.created ?? setCreated,
    list: options.list ?? sendList,
    ownList: options.list === undefined,
    entityTag: options.entityTag ?? (() => {}),
    link: options.link ?? (() => {}),
    preconditions: options.preconditions
  }
}

/** Throws a `TypeError` if the plugin, which the routes of `name` need, is not registered. */
export function requireWebhooks(app: FastifyInstance, name: string): void {
  if (app.webhooks === undefined)
    throw new TypeError(`webhooks: ${name} requires the plugin @concordat/webhooks. Register @concordat/webhooks before ${name}.`)
}

/** Returns the query schema for a list, or an empty schema when the option `list` is set. */
export function listQuery({ ownList }: RouteSettings, more: object = {}): FastifySchema {
  if (!ownList) return {}
  const page = { perPage: { type: 'integer', minimum: 1, maximum: 100, default: 25 }, after: { type: 'string', format: 'uuid' } }
  return { querystring: { type: 'object', properties: { ...page, ...more }, additionalProperties: false } }
}

function setCreated(reply: FastifyReply, path: string, resource: Record<string, unknown>) {
  reply.code(201).header('location', reply.server.prefix + path)
  return resource
}

async function sendList(request: FastifyRequest, reply: FastifyReply, input: WebhookListInput) {
  const { perPage, after, ...others } = request.query as { perPage: number; after?: string; status?: DeliveryStatus }
  const found = await input.resources({ limit: perPage + 1, after, ...others })
  const page = found.slice(0, perPage)
  if (found.length > perPage) {
    const query = new URLSearchParams({ ...others, perPage: String(perPage), after: String(page.at(-1)?.['id']) })
    reply.header('link', `<${request.url.split('?', 1).join()}?${query.toString()}>; rel="next"`)
  }
  return page
}
