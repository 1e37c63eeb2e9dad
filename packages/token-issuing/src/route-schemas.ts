const text = { type: 'string' }
const secret = { maxLength: 4096, writeOnly: true, type: 'string' }

/**
 * The schema for the body of a token request: either `username` and `password`, or `refreshToken`. The issuer checks which fields belong together.
 */
export const tokenRequestSchema: object = {
  type: 'object',
  properties: { username: { maxLength: 254, writeOnly: true, type: 'string' }, password: secret, refreshToken: secret }
}

/** The schema for the token response. */
export const tokenResponseSchema: object = {
  type: 'object',
  required: ['accessToken', 'tokenType', 'expiresIn', 'refreshToken'],
  properties: {
    accessToken: text,
    tokenType: { const: 'Bearer', type: 'string' },
    expiresIn: { description: 'Seconds until the access token expires', type: 'integer' },
    refreshToken: text
  }
}

/** The schema for the body of a revocation request: an access token or a refresh token. Revoking either ends its session. */
export const newRevocationSchema: object = { type: 'object', required: ['token'], properties: { token: secret } }

/** The schema for the response to a revocation request. */
export const revocationSchema: object = {
  type: 'object',
  required: ['revokedAt'],
  properties: { revokedAt: { format: 'date-time', type: 'string' } }
}
