// [not webhooks & not audit] import conventions, { serverOptions } from '@concordat/conventions'
// [webhooks & not audit] import conventions, { serverOptions, webhookRoutes } from '@concordat/conventions'
// [audit & not webhooks] import conventions, { auditTrailRoutes, serverOptions } from '@concordat/conventions'
import conventions, { auditTrailRoutes, serverOptions, webhookRoutes } from '@concordat/conventions' // [audit & webhooks]
import { postgresAuditTrailStore } from '@concordat/postgres/audit-trail' // [audit]
import { openDatabase } from '@concordat/postgres/open'
import { postgresRowErrors } from '@concordat/postgres/rows'
import { signIn } from '@concordat/postgres/sign-in' // [auth]
import { postgresStores } from '@concordat/postgres/stores'
import { postgresTransactions } from '@concordat/postgres/unit-of-work'
import { openService } from '@concordat/service'
import signInRoutes, { tokenIssuingErrors } from '@concordat/token-issuing' // [auth]
import Fastify from 'fastify'
import { permissions, roles } from './access.ts' // [auth]
import { authorErrors } from './authors/errors.ts'
import { authors } from './authors/routes.ts'
import { bookReportJob } from './book-reports/job.ts' // [jobs]
import { bookReports } from './book-reports/routes.ts' // [jobs]
import { bookErrors } from './books/errors.ts'
import { books } from './books/routes.ts'
import { prepare } from './database.ts'
import { createDemoUser, demoUser } from './demo-user.ts' // [auth]
import { openRateLimits } from './rate-limits.ts' // [redis]
import type { Settings } from './settings.ts'
import { versions } from './versions.ts'
import { webhooks } from './webhooks.ts' // [webhooks]

/** Builds the service: the database, the conventions, and the resources of each version. It does not listen yet. */
export async function buildApp(settings: Settings) {
  const { publicUrl, secrets, isLocal, drainSeconds } = settings
  const app = Fastify({
    ...serverOptions({ trustProxy: settings.trustProxy }),
    // [jobs|webhooks] begin
    // The first start creates the tables of the queue, which takes some time in PGlite.
    pluginTimeout: 60_000,
    // [jobs|webhooks] end
    logger: settings.logger
  })
  const onError = (error: unknown) => app.log.error(error)

  return openService(app, async (opened) => {
    const opening = openDatabase({ url: settings.databaseUrl, folder: settings.dataFolder, prepare, onError })
    const variable = settings.databaseUrl === undefined ? 'DATA_DIR' : 'DATABASE_URL'
    const database = opened(await settings.fromVariables([variable], opening))
    await createDemoUser(database, isLocal) // [auth]
    const queue = opened(await database.openQueue({ onError }), (open) => open.close(0)) // [jobs|webhooks]
    const limits = await openRateLimits(settings.redisUrl, opened, onError) // [redis]
    // [auth] begin
    const { accessTokens, revocations, routes } = signIn({
      database,
      name: 'books-service',
      tokenSecrets: secrets.TOKEN_SECRETS,
      refreshSecrets: secrets.REFRESH_SECRETS,
      onError
    })
    // [auth] end

    await app.register(conventions, {
      publicUrl,
      allowedHosts: settings.allowedHosts,
      versions,
      locales: ['en'],
      // [not auth] // Every client may do everything. See "Before production" in the README.
      // [not auth] authentication: false,
      authentication: { issuers: [accessTokens], revocations, permissions, roles }, // [auth]
      // A retry that arrives while the first request still runs gets its response instead of a 409.
      // [not auth] idempotency: { scope: () => 'everyone', waitSeconds: 2 },
      idempotency: { waitSeconds: 2 }, // [auth]
      paginationQuery: { cursor: { secrets: secrets.CURSOR_SECRETS } },
      transportSecurity: { dangerouslyAllowHttp: isLocal && 'loopback' },
      // [not jobs & not webhooks & not audit] stores: postgresStores(database.postgres),
      // [jobs|webhooks|audit] begin
      stores: {
        ...postgresStores(database.postgres),
        queue, // [jobs|webhooks]
        auditTrail: postgresAuditTrailStore(database.postgres) // [audit]
      },
      // [jobs|webhooks|audit] end
      transactions: postgresTransactions(database.postgres),
      jobs: {}, // [jobs]
      // [webhooks] begin
      webhooks: {
        ...webhooks,
        dangerouslyAllowLoopback: settings.variables.DANGEROUSLY_ALLOW_LOCAL_WEBHOOKS === true && 'any-certificate'
      },
      // [webhooks] end
      telemetry: { prometheus: true, scrapers: settings.variables.METRICS_SCRAPERS }, // [metrics]
      rateLimiting: limits.options, // [redis]
      health: {
        required: { database },
        optional: limits.checks, // [redis]
        drainSeconds
      },
      openapi: { title: 'Books service', reference: isLocal ? undefined : false },
      errorCatalogue: {
        include: [
          tokenIssuingErrors, // [auth]
          postgresRowErrors,
          authorErrors,
          bookErrors
        ]
      }
    })

    const reportJob = bookReportJob(database) // [jobs]
    await app.apiVersion(1, async (v1) => {
      await v1.register(signInRoutes, { ...routes, localUsers: [demoUser.username] }) // [auth]
      await v1.register(webhookRoutes) // [webhooks]
      await v1.register(auditTrailRoutes) // [audit]
      await v1.register(bookReports, { job: reportJob }) // [jobs]
      await v1.register(authors, { database })
      await v1.register(books, { database })
      // [batch] begin
      v1.batch('/book-batches', {
        paths: ['/books'],
        atomic: 'byRequest',
        config: {
          permissions: ['books:write'], // [auth]
          idempotency: 'required'
        }
      })
      // [batch] end
    })
  })
}
