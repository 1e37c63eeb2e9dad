import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { PageSelection } from '../store/store.ts'
import { type Subscription, type SubscriptionChange, versionOf } from '../store/subscription.ts'
import type { OwnerSelection } from '../subscribe/owner.ts'
import { type ObjectSchema, subscriptionParams as params } from './representation.ts'
import { listOf, listQuery, type ManagedSettings, routeOf, type SubscriptionName } from './route-options.ts'

/** Who uses the routes: the owners of subscriptions, or administrators. */
export interface Audience {
  readonly name: SubscriptionName
  readonly ownerOf: (request: FastifyRequest) => OwnerSelection
  readonly schema: ObjectSchema
  readonly show: (subscription: Subscription) => Record<string, unknown>
  readonly changeSchema: object
  readonly addLinks: (reply: FastifyReply, subscription: Subscription) => void
}

type One = { Params: { id: string } }

/** Adds the routes that list, read, change and remove subscriptions. */
export function addSubscriptionRoutes(app: FastifyInstance, settings: ManagedSettings, audience: Audience): void {
  const { path, list, entityTag, preconditions } = settings
  const { name, ownerOf, schema, show, changeSchema, addLinks } = audience
  const { webhooks } = app
  const one = `${path}/:id`
  const validated = preconditions === undefined ? {} : { validator }

  app.get(path, routeOf(settings, `list${name}s`, listQuery(settings), { 200: listOf(schema) }), async (request, reply) => {
    const owner = ownerOf(request)
    const resources = async (page: PageSelection) => (await webhooks.subscriptions(owner, page)).map(show)
    const count = async (limit: number) => webhooks.count(owner, {}, limit)
    return list(request, reply, { operation: `list${name}s`, parent: typeof owner === 'string' ? owner : undefined, resources, count })
  })

  app.get<One>(one, routeOf(settings, `read${name}`, { params }, { 200: schema }, validated), async (request, reply) => {
    const subscription = await webhooks.subscription(ownerOf(request), request.params.id)
    addLinks(reply, subscription)
    return show(subscription)
  })

  const change = routeOf(settings, `change${name}`, { params, body: changeSchema }, { 200: schema }, validated)
  app.patch<One & { Body: SubscriptionChange }>(one, change, async (request, reply) => {
    const changed = await webhooks.change(ownerOf(request), request.params.id, request.body, checkOf(request))
    entityTag(reply, versionOf(changed))
    addLinks(reply, changed)
    return show(changed)
  })

  app.delete<One>(one, routeOf(settings, `remove${name}`, { params }, { 204: { type: 'null' } }, validated), async (request, reply) => {
    await webhooks.unsubscribe(ownerOf(request), request.params.id, checkOf(request))
    return reply.code(204).send()
  })

  /** Returns the state of a subscription, for plugins that evaluate conditional requests. */
  async function validator(request: FastifyRequest) {
    const state = await webhooks.stateOf(ownerOf(request), (request.params as One['Params']).id)
    return state === undefined ? { exists: false } : { exists: true, etag: state.version, lastModified: new Date(state.updatedAt) }
  }

  /** Returns the check that refuses a change of a version that the request does not require. */
  function checkOf(request: FastifyRequest) {
    const wanted = preconditions?.(request)
    return (current: Subscription) => {
      const versions = wanted?.versions()
      const version = versionOf(current)
      if (Array.isArray(versions) && !versions.includes(version)) throw wanted?.failed(version)
    }
  }
}
