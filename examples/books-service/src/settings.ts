// [not metrics] import { type Environment, readSettings } from '@concordat/service'
import { addressList, type Environment, readSettings } from '@concordat/service' // [metrics]

/** Reads the settings from the environment, and from the file `.env` for variables that are not set. */
export function settings(environment: Environment = process.env) {
  return readSettings(
    {
      folder: new URL('..', import.meta.url),
      // [not auth] secrets: ['CURSOR_SECRETS'],
      secrets: ['CURSOR_SECRETS', 'TOKEN_SECRETS', 'REFRESH_SECRETS'], // [auth]
      // [metrics|webhooks] begin
      variables: {
        METRICS_SCRAPERS: addressList(['127.0.0.0/8', '::1']), // [metrics]
        DANGEROUSLY_ALLOW_LOCAL_WEBHOOKS: { type: 'boolean', default: false, description: 'false, or true outside of production' } // [webhooks]
      },
      // [metrics|webhooks] end
      // [postgres|webhooks] begin
      refusedInProduction: {
        DATABASE_URL: undefined, // [postgres]
        DANGEROUSLY_ALLOW_LOCAL_WEBHOOKS: true // [webhooks]
      }
      // [postgres|webhooks] end
    },
    environment
  )
}

export type Settings = ReturnType<typeof settings>
