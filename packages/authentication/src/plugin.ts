import { observeErrorHandlers } from '@concordat/plugin-kit/api-error'
import { checkAtStart, onEachRoute } from '@concordat/plugin-kit/findings'
import { planStep, type RequestStep, type StepRoute, warnWithoutRoutes } from '@concordat/plugin-kit/steps'
import { contractOf, contribute, earlierRoutes, isOutside, isRoot, publish, requireKnownConfig } from '@concordat/plugin-kit/wiring'
import type { FastifyInstance, FastifyPluginAsync, FastifyRequest, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import { authenticator } from './authenticator.ts'
import { sendsCredential } from './credentials.ts'
import { enter, enterLater, refusal } from './entry.ts'
import { authenticationErrors, credentialsInUri } from './errors.ts'
import { clientsContract, operationParts } from './operation-parts.ts'
import { type AuthenticationOptions, resolveOptions } from './options.ts'
import { authorizers, hasPolicy } from './policies.ts'
import { type Principal, revocationContract } from './principal.ts'
import { type CheckedAccess, nobody, undeclared, undeclaredOutside } from './route-access.ts'
import { enterTenant, hasTenant, mustSayNone, unsaid } from './tenant-routes.ts'
import { hasUriCredentials } from './uri-credentials.ts'

const accessKey: unique symbol = Symbol('concordat.access')

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The permissions that a client needs, each in the form `resource:action`; all are required. A route has these or `public: true`. */
    permissions?: readonly string[] | undefined
    /**
     * Whether the route accepts anonymous requests. Credentials in a header must be valid nevertheless on a route of the API that is not
     * operational, unless this is `'ignoring-credentials'`, as for a route at which clients replace an expired token. Cookies are ignored.
     */
    public?: boolean | 'ignoring-credentials' | undefined
    /** `'none'` for a route without a tenant, such as a public one, where the plugin has the option `tenant`. Operational routes have none. */
    tenant?: 'none' | undefined
    [accessKey]?: CheckedAccess | undefined
  }
  interface FastifyRequest {
    /** The authenticated user or client; `null` on public routes and at unknown URLs. */
    readonly principal: Principal | null
    /** The tenant of the request, by the credential; `undefined` without the option `tenant`, and on routes without a tenant. */
    readonly tenant: string | undefined
    /**
     * Checks that the principal may use a permission on a loaded object, and returns the object: `request.authorize('orders:update', order)`.
     * Throws 404 for an object that is absent, or secret to this principal, and 403 for one that the policy denies.
     */
    authorize<Resource>(permission: string, resource: Resource | null | undefined): Resource
    /** Does the same for a policy that returns a promise: `await request.authorizeAsync('orders:update', order)`. Rejects with the errors of `authorize`. */
    authorizeAsync<Resource>(permission: string, resource: Resource | null | undefined): Promise<Resource>
  }
}

/** Authenticates each request and checks the permissions of its route. A route that does not declare its access stops the boot. */
async function authentication(app: FastifyInstance, options: AuthenticationOptions): Promise<void> {
  const settings = resolveOptions(options)
  const authenticate = authenticator(settings)
  const headersOnly = { ...settings.places, cookie: undefined }
  // Routes that other plugins registered, before this plugin or after it.
  const earlier = isRoot(app) ? earlierRoutes(app) : []
  const undeclaredUrls = new Set(earlier.filter(isUndeclared).map(({ url }) => url))
  const routesToSayNone = new Set<string>()

  for (const { reportTo } of settings.issuers.values()) reportTo?.((fault) => app.log.warn(fault))
  requireKnownConfig(app, 'authentication')
  warnWithoutRoutes(app, 'authentication')
  contribute(app, 'errors', authenticationErrors)
  observeErrorHandlers(app)
  contribute(app, 'operations', operationParts(settings.tenantClaim))
  publish(app, {
    ...revocationContract(settings.revocations, [...settings.issuers.keys()]),
    clients: clientsContract(settings.places, settings.tenantClaim, {
      requirePermissions,
      hasPolicy: (permission) => hasPolicy(settings.policies, permission)
    })
  })
  app.decorateRequest('principal', null)
  app.decorateRequest('tenant', undefined)
  for (const [name, method] of Object.entries(authorizers(settings.policies, settings.table))) app.decorateRequest(name, method)
  onEachRoute(app, requireDeclaration)
  checkAtStart(app, requireAllDeclared)
  app.addHook('onReady', async () => settings.revocations?.start?.())
  planStep(app, 'onRequest', (route) => (route.isUnknown ? refuseUriCredentials : admission(route)))
  app.addHook('onClose', async () => settings.revocations?.close?.())

  async function requirePermissions(request: FastifyRequest, permissions: readonly string[]) {
    const refused = await admitWith(permissions, request)
    if (refused !== undefined) throw refused
  }

  function requireDeclaration(this: FastifyInstance, route: RouteOptions) {
    const isOfApi = contractOf(this, 'belongsToApi')?.(this, route) === true
    const access = declaredAccess(route, isOfApi, isOutside(this, route))
    if (mustSayNone(route, access, settings.tenantClaim)) routesToSayNone.add(route.url)
    if (access !== undefined) route.config = { ...route.config, [accessKey]: access }
    else if (isOfApi) throw new Error(undeclared(route))
    else undeclaredUrls.add(route.url)
  }

  // Only after all plugins have registered their routes, so that one message lists them all.
  function requireAllDeclared() {
    if (undeclaredUrls.size > 0) throw new Error(undeclaredOutside(undeclaredUrls))
    if (routesToSayNone.size > 0) throw new Error(unsaid(routesToSayNone))
  }

  // The config of a route that was registered before this plugin is not known here.
  function isUndeclared({ method, url }: { readonly method: string; readonly url: string }) {
    if (method === 'OPTIONS' || contractOf(app, 'versions')?.declaresAccess({ method, url })) return false
    return settings.access.outside(url) === undefined
  }

  function declaredAccess(route: Pick<RouteOptions, 'method' | 'url' | 'config'>, isOfApi: boolean, outside: boolean) {
    const own = settings.access.ofConfig(route, outside)
    // A browser sends OPTIONS before it sends credentials, and the response only lists the allowed methods.
    return own ?? (isOfApi ? undefined : settings.access.outside(route.url)) ?? (route.method === 'OPTIONS' ? 'public' : undefined)
  }

  function admission(route: StepRoute): RequestStep {
    const access = accessOf(route)
    const isOfTenant = settings.tenantClaim !== undefined && hasTenant(route.config)
    return function admit(request, reply) {
      if (hasUriCredentials(request.raw.url as string)) return credentialsInUri()
      const refused = admitWith(access, request)
      if (!isOfTenant) return refused
      return refused instanceof Promise ? refused.then((error) => enterTenant(request, reply, error)) : enterTenant(request, reply, refused)
    }
  }

  function admitWith(access: CheckedAccess, request: FastifyRequest) {
    if (access === 'public' || (access === 'anonymous' && !sendsCredential(request, headersOnly))) return undefined
    try {
      const principal = authenticate(request, access === 'anonymous' ? headersOnly : settings.places)
      return principal instanceof Promise ? enterLater(request, principal, access) : enter(request, principal, access)
    } catch (thrown) {
      return refusal(request, thrown as Error, access)
    }
  }

  // For a route that was registered before this plugin, the hook above did not run.
  function accessOf({ config }: StepRoute): CheckedAccess {
    const { method = '', url = '' } = config
    return config[accessKey] ?? declaredAccess({ method: method as string, url, config }, false, true) ?? nobody
  }
}

function refuseUriCredentials({ raw }: FastifyRequest) {
  return hasUriCredentials(raw.url as string) ? credentialsInUri() : undefined
}

const plugin: FastifyPluginAsync<AuthenticationOptions> = fp(authentication, { name: '@concordat/authentication', fastify: '^5.12.1' })
export default plugin
