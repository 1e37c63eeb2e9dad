import type { OpenDatabase } from '@concordat/postgres/open'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type TNull, type TOptional, type TSchema, type TString, type TUnion, Type } from '@sinclair/typebox'

/** The routes of a resource. */
export type Resource<Options = unknown> = FastifyPluginAsyncTypebox<{ readonly database: OpenDatabase } & Options>

/** An identifier. The service creates UUIDs of version 7. The length excludes `urn:uuid:`, which the format allows. */
export const Id: TString = Type.String({ format: 'uuid', maxLength: 36 })

/** The path parameter of a resource. */
export const IdPath = Type.Object({ id: Id })

/** A resource with an `id` accepts `fields`. */
export const projection = { id: 'id' }

/** The option `config.transaction` of routes whose effects are all in the transaction: a transaction that loses a race runs again. */
export const transaction = { maxRetries: 2 }

/** A time in UTC, with milliseconds. */
export const Timestamp: TString = Type.String({ format: 'date-time' })

/** An amount of money as a decimal string. JSON numbers are parsed as floating point, which cannot represent cents exactly. */
export const Amount: TString = Type.String({ pattern: '^\\d{1,18}\\.\\d{2}$', examples: ['12.50'] })

/** A price that a client sends. Cents can be omitted. */
export const Price: TString = Type.String({ pattern: '^\\d{1,8}(\\.\\d{1,2})?$', examples: ['12.50'] })

/** A field that a PATCH can also remove, with null (RFC 7396). */
export function removable<Schema extends TSchema>(schema: Schema): TOptional<TUnion<[Schema, TNull]>> {
  return Type.Optional(Type.Union([schema, Type.Null()], { description: '`null` removes it.' }))
}

/** A currency code of ISO 4217. */
export const Currency: TString = Type.String({ pattern: '^[A-Z]{3}$', examples: ['EUR'] })

/** An amount with its currency, from version 2. */
export const Money = Type.Object({ amount: Amount, currency: Currency }, { title: 'Money' })
