import { Type } from '@sinclair/typebox'
import { Timestamp } from '../fields.ts'

const Secret = Type.String({ maxLength: 4096, writeOnly: true })

/** Either `username` and `password`, or `refreshToken`. */
export const TokenRequest = Type.Object({
  username: Type.Optional(Type.String({ maxLength: 254, writeOnly: true })),
  password: Type.Optional(Secret),
  refreshToken: Type.Optional(Secret)
})

export const TokenResponse = Type.Object({
  accessToken: Type.String(),
  tokenType: Type.Literal('Bearer'),
  expiresIn: Type.Integer({ description: 'Seconds until the access token expires' }),
  refreshToken: Type.String()
})

/** An access token or a refresh token. Revoking either ends its session. */
export const NewTokenRevocation = Type.Object({ token: Secret })

export const TokenRevocation = Type.Object({ revokedAt: Timestamp })
