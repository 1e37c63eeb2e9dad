import { maxAccessTokenLength } from './token-sessions.ts'

const secret = { maxLength: 4096, writeOnly: true, type: 'string' }
const accessToken = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJl'
const refreshToken = 'rt_8Zk3vN1qXw5tR7yLpM0aQgB2cD4eF6hJ8kL0mN2pQ4rS6tU8vW0xY2zA4bC6dE8fG0hJ2kL4'

// Either `username` and `password`, or `refreshToken`: the issuer checks which fields belong together.
export const tokenRequestSchema: object = {
  type: 'object',
  properties: { username: { maxLength: 254, writeOnly: true, type: 'string' }, password: secret, refreshToken: secret },
  examples: [{ username: 'ada@example.com', password: 'correct horse battery staple' }]
}

export const tokenResponseSchema: object = {
  type: 'object',
  description: 'An access token, and a refresh token with which the client gets the next one.',
  required: ['accessToken', 'tokenType', 'expiresIn', 'refreshToken'],
  properties: {
    accessToken: { type: 'string', maxLength: maxAccessTokenLength, examples: [accessToken], 'x-secret': true },
    tokenType: { const: 'Bearer', type: 'string' },
    expiresIn: { description: 'Seconds until the access token expires', type: 'integer', minimum: 1, examples: [900] },
    refreshToken: { type: 'string', pattern: '^rt_[\\w-]{72}$', maxLength: 75, examples: [refreshToken], 'x-secret': true }
  }
}

export const newRevocationSchema: object = {
  type: 'object',
  required: ['token'],
  properties: { token: { ...secret, maxLength: maxAccessTokenLength, examples: [refreshToken] } }
}

export const revocationSchema: object = {
  type: 'object',
  description: 'The end of a session: its access and refresh tokens are no longer accepted.',
  required: ['revokedAt'],
  properties: { revokedAt: { format: 'date-time', type: 'string' } }
}
