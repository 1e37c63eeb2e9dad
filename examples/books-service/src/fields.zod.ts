import type { OpenDatabase } from '@concordat/postgres/open'
import type { StandardSchemaTypeProvider } from '@concordat/standard-schema'
import type { FastifyPluginAsync, RawServerDefault } from 'fastify'
import { z } from 'zod'

/** The routes of a resource. */
export type Resource = FastifyPluginAsync<{ readonly database: OpenDatabase }, RawServerDefault, StandardSchemaTypeProvider>

/** An identifier. The service creates UUIDs of version 7. */
export const Id = z.uuid()

/** The path parameter of a resource. */
export const IdPath = z.object({ id: Id })

/** A time in UTC, with milliseconds. */
export const Timestamp = z.iso.datetime()

/** The response without a body. */
export const Nothing = z.null()
