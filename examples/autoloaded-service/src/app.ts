import { join } from 'node:path'
import autoload from '@fastify/autoload'
import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import type { Knex } from 'knex'
import { addErrorHandlers } from './errors.ts'

/** The settings of the service. The plugins and routes that autoload finds get them as options. */
export interface Settings {
  readonly database: Knex
  readonly sessionSecret: string
  /** Options of Fastify that a package needs. */
  readonly server?: FastifyServerOptions | undefined
  /** Registers packages on the root instance, first. */
  readonly adopt?: ((app: FastifyInstance) => Promise<void>) | undefined
  /** Registers packages on the root instance, before every route and after the error handler. */
  readonly adoptLate?: ((app: FastifyInstance) => Promise<void>) | undefined
  /** Registers packages in the context of the reports, before its routes. */
  readonly adoptInReports?: ((reports: FastifyInstance) => Promise<void>) | undefined
  /** Whether the list of open tasks has pages. It needs pagination-query in the context of the reports. */
  readonly pages?: boolean | undefined
}

/** Builds the service. */
export async function buildApp(settings: Settings): Promise<FastifyInstance> {
  const app = Fastify({ ...settings.server, bodyLimit: 2000 })
  await settings.adopt?.(app)
  addErrorHandlers(app)
  await settings.adoptLate?.(app)
  await app.register(autoload, { dir: join(import.meta.dirname, 'plugins'), options: { ...settings } })
  await app.register(autoload, { dir: join(import.meta.dirname, 'routes'), autoHooks: true, options: { ...settings } })
  return app
}
