import { type ServiceWaivers, serviceWaiversOf } from '@concordat/plugin-kit/findings'
import type { Messages } from '@concordat/plugin-kit/texts'
import { contractOf, contributions } from '@concordat/plugin-kit/wiring'
import type { FastifyInstance } from 'fastify'
import type { DescribedRoute } from '../document/described-route.ts'
import type { PathItem } from '../document/document.ts'
import type { OperationParts, Settings } from '../options.ts'
import type { SharedSchemas } from './published-schema.ts'

/** An error that operations can return: an entry of the error catalogue. */
export interface DescribedError {
  readonly code: string
  readonly statusCode: number
  readonly message: Messages
  /** A sentence that explains how to fix the request. */
  readonly remedy: string
  /** `true` if the response lists the invalid fields in `error.errors`, as every validation error does. */
  readonly validation?: true | undefined
  /** What a client can do with the request: `later`, `changed` or `never`. */
  readonly retry: string
  /** What the request has changed, if it is the same for every response: `none`, `done` or `unknown`. */
  readonly effect?: string | undefined
}

/** The rate limits of a route. */
export interface DescribedLimits {
  /** The number of requests that each request counts as. */
  readonly cost: number
  readonly policies: readonly {
    readonly name: string
    readonly scope: string
    readonly limit: number
    readonly windowSeconds: number
    readonly tier?: string | undefined
  }[]
}

/** What the other plugins of the service publish for its description. */
interface PublishedFacts {
  /** The errors of the catalogue by code. */
  readonly errors: ReadonlyMap<string, DescribedError>
  /** What each plugin adds to an operation, with the codes of the errors with which it can respond, and its rate limits. */
  readonly operations: readonly ((route: DescribedRoute) => OperationParts & {
    readonly errors?: readonly string[] | undefined
    readonly problemDetails?: boolean | undefined
    readonly limits?: DescribedLimits | undefined
  })[]
  /** The rules that the service waives until a day, by id. */
  readonly waived: ServiceWaivers
  /** The value of `config.cache` for routes that do not set it. */
  readonly defaultCache: unknown
  /** Returns the webhook events of a version by type. Each member of a payload is a schema with references of its own. */
  readonly webhooks: (version: number) => Readonly<Record<string, PathItem>>
  /** The security schemes that clients can use to authenticate, by name. A route with `config.permissions` accepts any of them. */
  readonly securitySchemes: Readonly<Record<string, object>>
  /** The schemas of the instance to which the plugin belongs, for what is not described by a route. */
  readonly shared: SharedSchemas
}

/** Everything from which a document follows, besides the routes. */
export type DocumentSettings = Settings & PublishedFacts

/** Adds to the options what the other plugins publish, once all are registered. The catalogue of another package than this project has no contract. */
export function withPublishedFacts(app: FastifyInstance, settings: Settings): DocumentSettings {
  const facts = {
    errors: new Map(((contractOf(app, 'catalogue')?.entries ?? []) as readonly DescribedError[]).map((error) => [error.code, error])),
    operations: contributions(app, 'operations'),
    waived: serviceWaiversOf(app),
    defaultCache: contractOf(app, 'defaultCache'),
    webhooks: contractOf(app, 'webhookEvents') ?? (() => ({})),
    securitySchemes: settings.ownSecuritySchemes ?? contractOf(app, 'clients')?.securitySchemes ?? { bearer },
    shared: (id: string) => app.getSchema(id)
  }
  return { ...settings, ...(facts as unknown as PublishedFacts) }
}

const bearer = { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' }
