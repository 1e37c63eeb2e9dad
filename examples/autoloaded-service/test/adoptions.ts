import auditTrail, { memoryAuditTrailStore } from '@concordat/audit-trail'
import authentication, { ownTokens } from '@concordat/authentication'
import { testKit } from '@concordat/authentication/testing'
import batch from '@concordat/batch'
import conditionalCaching from '@concordat/conditional-caching'
import contentNegotiation from '@concordat/content-negotiation'
import conventions, { serverOptions } from '@concordat/conventions'
import envelope from '@concordat/envelope'
import errorCatalogue from '@concordat/error-catalogue'
import httpMethods from '@concordat/http-methods'
import idempotency from '@concordat/idempotency'
import jobs from '@concordat/jobs'
import openapi from '@concordat/openapi'
import paginationQuery from '@concordat/pagination-query'
import rateLimiting from '@concordat/rate-limiting'
import standardSchema from '@concordat/standard-schema'
import telemetry from '@concordat/telemetry'
import transportSecurity from '@concordat/transport-security'
import versioning from '@concordat/versioning'
import webhooks from '@concordat/webhooks'
import { memoryWorkQueue } from '@concordat/work-queue'
import type { FastifyContextConfig, FastifyInstance, RouteOptions } from 'fastify'
import type { Settings } from '../src/app.ts'
import type { Result } from './requests.ts'

/** How the service adopts a package, and what then differs from its own tests: all that is not listed stays. */
export interface Adoption {
  readonly settings: Partial<Settings>
  /** The page with the sentences, if it is not the README of the package. */
  readonly page?: string
  /** A sentence of the README, and what it changes: by the name of the case, a part of the result. */
  readonly differences: readonly (readonly [sentence: string, changes: Readonly<Record<string, Partial<Record<keyof Result, unknown>>>>])[]
}

const publicUrl = 'https://tasks.example'
const origin = { issuer: 'https://id.example', audience: 'tasks' }
const versions = { 1: {} }
const onRoot = (register: (app: FastifyInstance) => PromiseLike<unknown>): Pick<Adoption, 'settings'> => ({
  settings: { adopt: async (app) => void (await register(app)) }
})
const inReports = (register: (app: FastifyInstance) => PromiseLike<unknown>, more: Partial<Settings> = {}): Pick<Adoption, 'settings'> => ({
  settings: { adoptInReports: async (app) => void (await register(app)), ...more }
})

/** Sets a key in the config of the routes of a context, as their author would. */
function withConfig(context: FastifyInstance, config: (route: RouteOptions) => FastifyContextConfig) {
  context.addHook('onRoute', (route) => {
    route.config = { ...route.config, ...config(route) }
  })
}

const failure = (status: number, code: string | RegExp = /^[A-Z_]+$/) => ({ status, body: { error: { status, code } } })
const failures = (statuses: Readonly<Record<string, number>>) =>
  Object.fromEntries(Object.entries(statuses).map(([name, status]) => [name, failure(status)]))

// The classes of the service, which only its error handler knows.
const ownErrors = {
  'without a session': 401,
  'wrong code': 403,
  duplicate: 409,
  'missing item': 404,
  'missing picture': 404,
  'after sign-out': 401
}
const badBodies = { 'malformed JSON': 400, 'too large body': 413, 'unknown media type': 415 }
const invalid = { 'sign-in without a code': failure(422), 'invalid body': failure(422), list: failure(422) }
const coerced = { 'coerced change': failure(422, 'VALIDATION_FAILED') }

/** Every package that a service can adopt, each alone, and the preset. token-issuing only adds routes. */
const packages = {
  'audit-trail': { ...onRoot((app) => app.register(auditTrail, { store: memoryAuditTrailStore() })), differences: [] },
  authentication: {
    ...inReports((reports) => {
      withConfig(reports, () => ({ permissions: ['reports:read'] }))
      const issuers = [ownTokens({ ...origin, keys: testKit(origin).keys })]
      return reports.register(authentication, { issuers, permissions: ['reports:read'] })
    }),
    differences: [
      [
        'Authenticates every request with a bearer token or API key, and checks permissions on routes and on loaded objects.',
        Object.fromEntries(
          ['report', 'report as CSV', 'report of tasks'].map((name) => [name, { status: 401, body: { message: /./ }, headers: {} }])
        )
      ]
    ]
  },
  batch: { ...onRoot((app) => app.register(batch)), differences: [] },
  'conditional-caching': { ...onRoot((app) => app.register(conditionalCaching)), differences: [] },
  'content-negotiation': {
    ...onRoot((app) => app.register(contentNegotiation)),
    differences: [
      [
        'A GET gets 406 only if `Accept` excludes the type of the response.',
        { 'list as HTML': { status: 406, body: { message: /text|JSON|json/ } } }
      ],
      [
        'Plain text gets 415, because Fastify parses it on every route',
        { 'plain text': { status: 415, body: { message: /^Content-Type / } } }
      ]
    ]
  },
  envelope: {
    ...inReports((reports) => {
      withConfig(reports, ({ schema }) => (schema?.response === undefined ? { envelope: false } : {}))
      return reports.register(envelope, { publicUrl })
    }),
    differences: [
      [
        'Sends every successful response of a Fastify service in one envelope: `data`, `_links`, `_meta`.',
        { report: { body: { data: { tasks: 2, hours: 8 }, _links: [{ rel: 'self' }], _meta: { version: 'v1' } } } }
      ]
    ]
  },
  'error-catalogue': {
    ...onRoot((app) => app.register(errorCatalogue, { publicUrl, version: () => 'v1' })),
    differences: [
      [
        'Sends every 4xx and 5xx response of a Fastify service in the same JSON envelope, whatever caused it.',
        failures({ ...ownErrors, ...badBodies, 'thrown error': 500, 'unknown path': 404, options: 404, 'unsupported method': 404 })
      ],
      ['| an invalid body or query | 422 with every invalid field, at most 100 |', invalid],
      ['Nothing in a body is coerced.', coerced],
      ['| an invalid path parameter | 404 |', { 'invalid parameter': failure(404) }]
    ]
  },
  'http-methods': {
    ...onRoot((app) => app.register(httpMethods)),
    differences: [
      ['| `PATCH /orders/5` | 405,', { 'unsupported method': { status: 405, body: { message: /Allow header/ } } }],
      ['| `OPTIONS /orders/5` | 204,', { options: { status: 204, body: '' } }],
      ['| `POST /nothing`, with any body | 404 |', { 'unknown path': { body: { message: /^The resource was not found/ } } }]
    ]
  },
  idempotency: { ...onRoot((app) => app.register(idempotency, { scope: () => 'everyone' })), differences: [] },
  jobs: { ...onRoot((app) => app.register(jobs, { queue: memoryWorkQueue(), owner: () => 'everyone', publicUrl })), differences: [] },
  openapi: { ...onRoot((app) => app.register(openapi, { title: 'Tasks', versions })), differences: [] },
  'pagination-query': {
    ...inReports((reports) => reports.register(paginationQuery, { publicUrl }), { pages: true }),
    differences: [['422 `INVALID_QUERY_PARAMETERS`', { 'report of tasks': { status: 422, body: { message: /./ } } }]]
  },
  'rate-limiting': { ...onRoot((app) => app.register(rateLimiting)), differences: [] },
  'standard-schema': { ...onRoot((app) => app.register(standardSchema)), differences: [] },
  telemetry: { ...onRoot((app) => app.register(telemetry, { prometheus: true })), differences: [] },
  'transport-security': { ...onRoot((app) => app.register(transportSecurity, { dangerouslyAllowHttp: 'loopback' })), differences: [] },
  versioning: { ...onRoot((app) => app.register(versioning, { publicUrl, versions, versionsPath: '/versions' })), differences: [] },
  webhooks: {
    ...onRoot((app) => {
      const schema = { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] }
      return app.register(webhooks, {
        events: { 'task.created': { description: 'A task was created.', schema, example: { id: '1' } } },
        mayReceive: 'everyone'
      })
    }),
    differences: []
  },
  conventions: {
    settings: {
      server: serverOptions(),
      ...onRoot((app) =>
        app.register(conventions, {
          publicUrl,
          versions,
          authentication: false,
          versioning: { versionsPath: '/versions' },
          transportSecurity: { dangerouslyAllowHttp: 'loopback' }
        })
      ).settings
    },
    page: 'docs/architecture.md',
    differences: [
      [
        '| failures in the error envelope, 404 and 405 for unknown paths and methods, OPTIONS | yes | yes |',
        {
          ...failures({ ...ownErrors, ...badBodies, 'thrown error': 500, 'unknown path': 404, 'unsupported method': 405 }),
          options: { status: 204, body: '' }
        }
      ],
      [
        '| request bodies and queries validated by their schemas, errors by field | yes | yes |',
        { ...invalid, ...coerced, 'invalid parameter': failure(404) }
      ]
    ]
  }
} satisfies Readonly<Record<string, Adoption>>

const late = ({ settings: { adopt, ...others }, ...adoption }: Adoption): Adoption => ({
  ...adoption,
  settings: { ...others, adoptLate: adopt }
})

/** The adoptions by name. */
export const adoptions: Readonly<Record<string, Adoption>> = {
  ...packages,
  'error-catalogue, after the error handler of the service': late(packages['error-catalogue']),
  'conventions, after the error handler of the service': late(packages.conventions)
}
