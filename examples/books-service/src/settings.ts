import { type Environment, readSettings } from '@concordat/service'

// [metrics] begin
// Who may read GET /metrics without a token.
const scrapers = {
  type: 'string',
  default: '127.0.0.0/8,::1',
  description: 'addresses or networks separated by commas, for example 10.1.0.0/16'
} as const
// [metrics] end

/** Reads the settings from the environment, and from the file `.env` for variables that are not set. */
export function settings(environment: Environment = process.env) {
  return readSettings(
    {
      folder: new URL('..', import.meta.url),
      // [not auth] secrets: ['CURSOR_SECRETS'],
      secrets: ['CURSOR_SECRETS', 'TOKEN_SECRETS', 'REFRESH_SECRETS'], // [auth]
      variables: { METRICS_SCRAPERS: scrapers }, // [metrics]
      refusedInProduction: { DATABASE_URL: undefined } // [postgres]
    },
    environment
  )
}

export type Settings = ReturnType<typeof settings>
