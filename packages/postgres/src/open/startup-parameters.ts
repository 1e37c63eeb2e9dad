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

/** Returns a client class of `pg` whose error names the remedy when PgBouncer refuses the startup parameters. */
export function explainingClient(Base: typeof Client): typeof Client {
  return class extends Base {
    override connect(): Promise<Client>
    override connect(done: Connected): void
    // A pool always passes a callback.
    override connect(done?: Connected): Promise<Client> | undefined {
      super.connect((error: Error) => (done as (error: Error) => void)(explained(error)))
      return undefined
    }
  }
}

function explained(error: Error) {
  // Absent after a success.
  const refused = /unsupported startup parameter\D*: (\w+)/.exec(error?.message)?.[1]
  if (refused !== undefined)
    error.message = `postgres: PgBouncer refuses the startup parameter ${refused}. Set ignore_startup_parameters = ${ignored} in its configuration, and these settings for the role with ALTER ROLE.`
  return error
}
