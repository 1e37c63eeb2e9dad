import { type Static, Type } from '@sinclair/typebox'
import { Id } from '../fields.ts'

const role = Type.Union([Type.Literal('customer'), Type.Literal('staff'), Type.Literal('administrator')])

export const User = Type.Object({ id: Id, role }, { description: 'A user who can sign in.' })
export type User = Static<typeof User>

export const UserChanges = Type.Object({ role: Type.Optional(role) })
