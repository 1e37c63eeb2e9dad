import { type TString, Type } from '@sinclair/typebox'

/** An identifier; those that the service makes are UUIDs of version 7. The length keeps out `urn:uuid:`, which the format allows. */
export const Id: TString = Type.String({ format: 'uuid', maxLength: 36 })

/** A moment in UTC, with milliseconds. */
export const Timestamp: TString = Type.String({ format: 'date-time' })

/** An amount of money as a decimal string: JSON numbers are read as floating point, which has no exact cents. */
export const Amount: TString = Type.String({ pattern: '^\\d{1,18}\\.\\d{2}$', examples: ['12.50'] })

/** A price that a client sends: cents may be left out. */
export const Price: TString = Type.String({ pattern: '^\\d{1,8}(\\.\\d{1,2})?$', examples: ['12.50'] })

/** A currency of ISO 4217. */
export const Currency: TString = Type.String({ pattern: '^[A-Z]{3}$', examples: ['EUR'] })
