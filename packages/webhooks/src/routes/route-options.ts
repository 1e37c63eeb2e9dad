import { callback, describeOptions, headerName, type OptionsOf, required, type SettingsOf, value } from '@concordat/plugin-kit/options'
import { contractLater, inTenant } from '@concordat/plugin-kit/wiring'
import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest, FastifySchema, RouteShorthandOptions } from 'fastify'
import { errorList } from '../errors.ts'
import type { DeliveryStatus } from '../store/delivery.ts'
import type { PageSelection } from '../store/store.ts'
import { type Surroundings, surroundingsOf } from './surroundings.ts'

/** The operations of `webhookRoutes` and, with `Managed`, those of `managedWebhookRoutes`. */
export type WebhookOperation =
  | `list${SubscriptionName}s`
  | `${'read' | 'change' | 'remove'}${SubscriptionName}`
  | 'createSubscription'
  | 'rotateSecret'
  | 'ping'
  | 'listDeliveries'
  | 'readDelivery'
  | 'listAttempts'
  | 'redeliver'
  | 'recover'

/** What the names of the operations on subscriptions end in. */
export type SubscriptionName = 'Subscription' | 'ManagedSubscription'

/** The input of the `list` option: which list of a parent was requested, and functions that read it. `status` filters deliveries. */
export interface WebhookListInput {
  readonly operation: Extract<WebhookOperation, `list${string}`>
  /** An owner, the id of a subscription or of a delivery; undefined for the subscriptions of all owners. */
  readonly parent: string | undefined
  /** Reads a page and returns its items as API resources. */
  readonly resources: (page: PageSelection & { readonly status?: DeliveryStatus | undefined }) => Promise<Record<string, unknown>[]>
  /** Returns the number of items of the list, or `limit` if there are more. */
  readonly count: (limit: number, status?: DeliveryStatus) => Promise<number>
}

const sharedOptions = describeOptions('webhooks', {
  /** Responds with a page of a list. By default it reads `perPage` and `after`, an id, and adds a `Link` to the next page. */
  list: callback<(request: FastifyRequest, reply: FastifyReply, input: WebhookListInput) => unknown>('returns a page of a list', {
    default: sendList
  })
})

const replaced = {
  created: 'Remove it. With @concordat/envelope, the routes use its reply.created.',
  link: 'Remove it. With @concordat/envelope, the routes use its reply.link.',
  preconditions: 'Remove it. With @concordat/conditional-caching, the routes use its preconditions.',
  entityTag: 'Remove it. With @concordat/conditional-caching, the routes use its reply.entityTag.'
}

/** The description of {@link WebhookRoutesOptions}. */
const webhookRoutesOptions = describeOptions(
  'webhooks',
  {
    /** Returns the owner of the subscriptions that a request can access. Without one, the request gets 400 `CLIENT_NOT_IDENTIFIED`. */
    owner: required(callback<(request: FastifyRequest) => string | undefined>('returns the owner of the subscriptions for a request')),
    /** The header by which `owner` identifies a client, which the 400 names. */
    clientHeader: headerName({ default: 'Authorization' }),
    /** Returns the audience of a new subscription, for events that name their `audiences`. By default the owner. */
    audienceOf: callback<(request: FastifyRequest) => string | undefined>('returns the audience of a new subscription', {
      default: () => undefined
    }),
    /** The path of the subscriptions, relative to the prefix of the context. */
    path: value<string>({ default: '/webhook-subscriptions' }),
    /** Returns the API version, which determines the form of the events, of a new subscription. By default 1. */
    version: callback<(request: FastifyRequest) => number>('returns the API version of a new subscription', { default: () => 1 }),
    /** Returns the `config` of a route, for example permissions, collections and idempotency. */
    routeConfig: callback<(operation: WebhookOperation) => FastifyContextConfig>('returns the config of a route', { default: () => ({}) }),
    ...sharedOptions.members
  },
  replaced
)

/** Options of `webhookRoutes`. */
export interface WebhookRoutesOptions extends OptionsOf<typeof webhookRoutesOptions> {}

/** The description of {@link ManagedWebhookRoutesOptions}. */
const managedWebhookRoutesOptions = describeOptions(
  'webhooks',
  {
    path: value<string>({ default: '/managed-webhook-subscriptions' }),
    routeConfig: required(webhookRoutesOptions.members.routeConfig),
    ...sharedOptions.members
  },
  replaced
)

/** Options of `managedWebhookRoutes`, as those of `webhookRoutes`. `routeConfig` is required: it says who is an administrator. */
export interface ManagedWebhookRoutesOptions extends OptionsOf<typeof managedWebhookRoutesOptions> {}

/** Resolved options of `managedWebhookRoutes`. */
export type ManagedSettings = SettingsOf<(typeof managedWebhookRoutesOptions)['members']> & Surroundings
/** Resolved options of `webhookRoutes`. */
export interface RouteSettings extends Surroundings, Omit<SettingsOf<(typeof webhookRoutesOptions)['members']>, 'owner' | 'clientHeader'> {
  /** Returns the owner of the subscriptions that a request can access, and its tenant, as one text. Throws 400 when there is no owner. */
  readonly owner: (request: FastifyRequest) => string
  /** The same without the tenant. */
  readonly ownerName: (request: FastifyRequest) => string
  readonly tenantOf: (request: FastifyRequest) => string | undefined
}

/** Returns the options with defaults applied. Throws a `TypeError` of one line for invalid options, and if the plugin is not registered. */
export function resolveRouteOptions(app: FastifyInstance, options: WebhookRoutesOptions): RouteSettings {
  const { owner, clientHeader, ...settings } = webhookRoutesOptions.readPlugin(options)
  requirePlace(app, settings.path, 'webhookRoutes')
  const clients = contractLater(app, 'clients')
  const tenantOf = (request: FastifyRequest) => clients()?.tenantOf?.(request)
  return { ...settings, ...surroundingsOf(app), owner: (request) => inTenant(ownerName(request), tenantOf(request)), ownerName, tenantOf }

  function ownerName(request: FastifyRequest) {
    const known = owner(request)
    if (known) return known
    request.log.info('webhooks: options.owner returned no owner for this request. Accept only authenticated clients on the webhook routes.')
    throw errorList.create('CLIENT_NOT_IDENTIFIED', { params: { header: clientHeader } })
  }
}

/** Does the same for the options of `managedWebhookRoutes`. */
export function resolveManagedOptions(app: FastifyInstance, options: ManagedWebhookRoutesOptions): ManagedSettings {
  const settings = managedWebhookRoutesOptions.readPlugin(options)
  requirePlace(app, settings.path, 'managedWebhookRoutes')
  return { ...settings, ...surroundingsOf(app) }
}

function requirePlace(app: FastifyInstance, path: string, name: string) {
  if (!/^(\/[a-z\d-]+)+$/.test(path))
    throw new TypeError(`webhooks: options.path must be a path such as "/webhook-subscriptions", but is "${path}".`)
  if (app.webhooks === undefined)
    throw new TypeError(`webhooks: ${name} requires the plugin @concordat/webhooks. Register @concordat/webhooks before ${name}.`)
}

/** Returns the options of the route of an operation: its schema for requests and responses, and its config on top of `config`. */
export function routeOf(
  { routeConfig }: ManagedSettings,
  operation: WebhookOperation,
  schema: FastifySchema,
  response: object,
  config: object = {}
): RouteShorthandOptions {
  return { config: { ...config, ...routeConfig(operation) }, schema: { ...schema, response } }
}

/** Returns the schema of an array. */
export function listOf(items: object): object {
  return { type: 'array', items }
}

/** Returns the query schema for a list, or an empty schema when the option `list` is set. */
export function listQuery({ list }: Pick<RouteSettings, 'list'>, more: object = {}): FastifySchema {
  if (list !== sendList) return {}
  const page = { perPage: { type: 'integer', minimum: 1, maximum: 100, default: 25 }, after: { type: 'string', format: 'uuid' } }
  return { querystring: { type: 'object', properties: { ...page, ...more }, additionalProperties: false } }
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
