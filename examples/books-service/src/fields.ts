import type { OpenDatabase } from '@concordat/postgres/open'
import { type FastifyPluginAsyncTypebox, type TSchema, Type } from '@fastify/type-provider-typebox'

/** The routes of a resource. */
export type Resource = FastifyPluginAsyncTypebox<{ readonly database: OpenDatabase }>

/** An identifier. The service creates UUIDs of version 7. */
export const Id = Type.String({ format: 'uuid', maxLength: 36 })

/** The path parameter of a resource. */
export const IdPath = Type.Object({ id: Id })

/** A time in UTC, with milliseconds. */
export const Timestamp = Type.String({ format: 'date-time' })

/** The response without a body. */
export const Nothing = Type.Null()

/** A field that a PATCH can also remove, with null (RFC 7396). */
export function removable<Schema extends TSchema>(schema: Schema) {
  return Type.Union([schema, Type.Null()], { description: '`null` removes it.' })
}
