import type { RouteLimit } from './route-limit.ts'

/**
 * The limit for routes that check a secret: login, tokens, password reset. 20 attempts a minute from one address, all such routes
 * together, counted before anything is checked. It goes into `config.rateLimit` of the route.
 *
 * It slows guessing from one place. Guessing one account from many places is for the limit of attempts per account.
 */
export const credentialLimit: RouteLimit = Object.freeze({ limit: 20, windowSeconds: 60, scope: 'address', group: 'credentials' })
