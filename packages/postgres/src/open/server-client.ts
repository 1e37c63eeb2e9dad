import type { Socket } from 'node:net'
import type { Client } from 'pg'

type Connected = Parameters<Client['connect']>[0]

const ignored = 'options, client_connection_check_interval, idle_in_transaction_session_timeout, statement_timeout, lock_timeout'

/**
 * Returns a class of clients. The error of a connection names the remedy when PgBouncer refuses the startup parameters. With `maxSilenceMs`, a connection
 * is closed when a statement runs and nothing arrives for so long. `query_timeout` of `pg` would set a timer for each statement, whose closure keeps the
 * whole result alive until the next full garbage collection.
 */
export function clientClass(Base: typeof Client, maxSilenceMs?: number): typeof Client {
  return class extends Base {
    #isBusy = false

    override connect(): Promise<Client>
    override connect(done: Connected): void
    // A pool always passes a callback.
    override connect(done?: Connected): Promise<Client> | undefined {
      super.connect((error: Error) => {
        if (!error && maxSilenceMs !== undefined) this.#endSilence(maxSilenceMs)
        ;(done as (error: Error) => void)(explained(error))
      })
      return undefined
    }

    override query(...input: unknown[]): never {
      this.#isBusy = true
      return super.query<never>(...(input as [never]))
    }

    #endSilence(milliseconds: number) {
      // Emitted when no statement runs or waits any more.
      this.on('drain', () => {
        this.#isBusy = false
      })
      const stream = this.connection.stream as Socket
      stream.setTimeout(milliseconds).on('timeout', () => {
        if (this.#isBusy) stream.destroy(new Error(`postgres: the server has sent nothing for ${milliseconds / 1000} s.`))
      })
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
