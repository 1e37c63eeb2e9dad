import type { RouteLimit } from './route-limit.ts'

/**
 * The limit for routes that check a secret, such as login, tokens and password reset: 20 attempts a minute from one address, for all
 * such routes together, counted before the secret is checked. Set it as `config.rateLimit` of the route.
 *
 * It slows guessing from one address. A limit of attempts per account is needed against guessing from many addresses.
 */
export const credentialLimit: RouteLimit = Object.freeze({ limit: 20, windowSeconds: 60, scope: 'address', group: 'credentials' })
