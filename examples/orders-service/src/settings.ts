import { addressList, type Environment, readSettings } from '@concordat/service'
import { Type } from '@sinclair/typebox'

/** The settings of the service. */
export type Settings = ReturnType<typeof settings>

/** Reads the environment, and the file `.env` in the folder of the service for variables that the environment does not set. */
export function settings(environment?: Environment) {
  return readSettings(
    {
      folder: new URL('../', import.meta.url),
      secrets: ['CURSOR_SECRETS', 'TOKEN_SECRETS', 'REFRESH_SECRETS'],
      variables: {
        RATE_LIMIT: Type.Unsafe<'on' | 'off'>({ enum: ['on', 'off'], default: 'on', description: 'on, or off outside of production' }),
        DANGEROUSLY_ALLOW_LOCAL_WEBHOOKS: Type.Boolean({ default: false, description: 'false, or true outside of production' }),
        METRICS_SCRAPERS: addressList(['127.0.0.0/8', '::1']),
        SEED_ORDERS: Type.Integer({ default: 830, minimum: 0, maximum: 10_000_000, description: 'an integer from 0 to 10000000' })
      },
      refusedInProduction: { RATE_LIMIT: 'off', DANGEROUSLY_ALLOW_LOCAL_WEBHOOKS: true }
    },
    environment
  )
}
