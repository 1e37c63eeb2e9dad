// [not metrics] import { type Environment, readSettings } from '@concordat/service'
import { addressList, type Environment, readSettings } from '@concordat/service' // [metrics]

/** Reads the settings from the environment, and from the file `.env` for variables that are not set. */
export function settings(environment: Environment = process.env) {
  return readSettings(
    {
      folder: new URL('..', import.meta.url),
      // [not auth] secrets: ['CURSOR_SECRETS'],
      secrets: ['CURSOR_SECRETS', 'TOKEN_SECRETS', 'REFRESH_SECRETS'], // [auth]
      // Who may read GET /metrics without a token. // [metrics]
      variables: { METRICS_SCRAPERS: addressList(['127.0.0.0/8', '::1']) }, // [metrics]
      refusedInProduction: { DATABASE_URL: undefined } // [postgres]
    },
    environment
  )
}

export type Settings = ReturnType<typeof settings>
