import type { Client, PoolConfig } from 'pg'

/** The settings with which each connection begins. PgBouncer refuses them, unless it is configured to ignore them. */
export const startupParameters: PoolConfig = {
  idle_in_transaction_session_timeout: 30_000,
  // The server ends the statement of a killed process, and with it the claim of its idempotency key.
  options: '-c client_connection_check_interval=250'
}

/**
 * The settings of connections for requests, for a queue and for work in the background. `query_timeout` and `connectionTimeoutMillis` are settings of
 * this process.
 */
export const impatient: PoolConfig = {
  statement_timeout: 10_000,
  lock_timeout: 5_000,
  query_timeout: 15_000,
  connectionTimeoutMillis: 2_000
}

const ignored = 'options, client_connection_check_interval, idle_in_transaction_session_timeout, statement_timeout, lock_timeout'

type Connected = Parameters<Client['connect']>[0]

/** Returns a client class of `pg` whose error names the remedy when PgBouncer refuses the startup parameters, or the URL lacks a user or a password. */
export function explainingClient(Base: typeof Client, url: string): typeof Client {
  return class extends Base {
    override connect(): Promise<Client>
    override connect(done: Connected): void
    // A pool always passes a callback.
    override connect(done?: Connected): Promise<Client> | undefined {
      super.connect((error: Error) => (done as (error: Error) => void)(explained(error, url)))
      return undefined
    }
  }
}

function explained(error: Error, url: string) {
  // Absent after a success.
  const refused = /unsupported startup parameter\D*: (\w+)/.exec(error?.message)?.[1]
  if (refused !== undefined)
    error.message = `postgres: PgBouncer refuses the startup parameter ${refused}. Set ignore_startup_parameters = ${ignored} in its configuration, and these settings for the role with ALTER ROLE.`
  const missing = error && isAboutCredentials(error) && missingIn(url)
  if (missing)
    error.message = `${error.message.replace(/\.$/, '')}. The URL of the database has no ${missing}. Write it as postgres://user:password@host:5432/database.`
  return error
}

// 28000 and 28P01 are of the server. Without a password, `pg` fails before it sends one.
function isAboutCredentials({ code, message }: Error & { readonly code?: unknown }) {
  return String(code).startsWith('28') || message.includes('password must be a string')
}

// PGUSER and PGPASSWORD replace what the URL lacks.
function missingIn(url: string) {
  if (!URL.canParse(url)) return undefined
  const { username, password, searchParams } = new URL(url)
  if (username === '' && !searchParams.has('user') && !process.env['PGUSER']) return 'user'
  return password === '' && !searchParams.has('password') && !process.env['PGPASSWORD'] ? 'password' : undefined
}
