import type { FastifyContextConfig, FastifyRequest } from 'fastify'
import { type Subscription, versionOf } from '../store/subscription.ts'
import type { OwnerSelection } from '../subscribe/owner.ts'
import type { Webhooks } from '../subscribe/webhooks.ts'
import type { RouteSettings, WebhookOperation } from './route-options.ts'

/** The preconditions of the routes of one subscription. */
export interface SubscriptionPreconditions {
  /** Returns the `config` of a route, with the `validator` for plugins that evaluate conditional requests. */
  readonly validated: (operation: WebhookOperation) => FastifyContextConfig
  /** Returns the check that refuses a change of a version that the request does not require. */
  readonly checkOf: (request: FastifyRequest) => (current: Subscription) => void
}

/** Creates the functions with which the routes of one subscription evaluate preconditions. */
export function preconditionsOf(
  webhooks: Webhooks,
  { routeConfig, hasPreconditions, preconditions }: Pick<RouteSettings, 'routeConfig' | 'hasPreconditions' | 'preconditions'>,
  ownerOf: (request: FastifyRequest) => OwnerSelection
): SubscriptionPreconditions {
  async function validator(request: FastifyRequest) {
    const state = await webhooks.stateOf(ownerOf(request), (request.params as { readonly id: string }).id)
    return state === undefined ? { exists: false } : { exists: true, etag: state.version, lastModified: new Date(state.updatedAt) }
  }

  return {
    validated: (operation) => Object.assign(hasPreconditions ? { validator } : {}, routeConfig(operation)),
    checkOf(request) {
      const wanted = preconditions(request)
      return (current) => {
        const versions = wanted.versions()
        const version = versionOf(current)
        if (Array.isArray(versions) && !versions.includes(version)) throw wanted.failed(version)
      }
    }
  }
}
