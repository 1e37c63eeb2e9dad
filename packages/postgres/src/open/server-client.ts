import type { Socket } from 'node:net'
import type { Client } from 'pg'
import type { ColumnParsers } from './column-parsers.ts'

type Connected = Parameters<Client['connect']>[0]

const ignored = 'options, client_connection_check_interval, idle_in_transaction_session_timeout, statement_timeout, lock_timeout'

/**
 * Returns a class of clients whose first connection reads the types of the columns. The error of a connection names the remedy when PgBouncer refuses the startup parameters, or the URL
 * lacks a user or a password. With `maxSilenceMs`, a connection
 * is closed when a statement runs and nothing arrives for so long. `query_timeout` of `pg` would set a timer for each statement, whose closure keeps the
 * whole result alive until the next full garbage collection.
 */
export function clientClass(Base: typeof Client, url: string, parsers: ColumnParsers, maxSilenceMs?: number): typeof Client {
  return class extends Base {
    #isBusy = false

    override connect(): Promise<Client>
    override connect(done: Connected): void
    // A pool always passes a callback.
    override connect(done?: Connected): Promise<Client> | undefined {
      const connected = done as (error?: Error) => void
      super.connect((error: Error | undefined) => {
        if (error) return connected(explained(error, url))
        if (maxSilenceMs !== undefined) this.#endSilence(maxSilenceMs)
        void this.#readTypes(connected)
      })
      return undefined
    }

    override query(...input: unknown[]): never {
      this.#isBusy = true
      return super.query<never>(...(withTimesInUtc(input) as [never]))
    }

    async #readTypes(connected: (error?: Error) => void) {
      try {
        await parsers.read((sql) => super.query(sql))
      } catch (error) {
        return this.end(() => connected(error as Error))
      }
      return connected()
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

// `pg` writes a Date in the time zone of the process, which a column without a time zone would store.
function withTimesInUtc([statement, ...rest]: readonly unknown[]): readonly unknown[] {
  const [values] = rest
  if (Array.isArray(values)) return [statement, values.map(inUtc), ...rest.slice(1)]
  const config = statement as { readonly values?: unknown; readonly submit?: unknown }
  if (typeof config !== 'object' || config.submit !== undefined || !Array.isArray(config.values)) return [statement, ...rest]
  return [{ ...config, values: config.values.map(inUtc) }, ...rest]
}

function inUtc(value: unknown): unknown {
  if (value instanceof Date) return value.toISOString()
  return Array.isArray(value) ? value.map(inUtc) : value
}

function explained(error: Error, url: string) {
  const refused = /unsupported startup parameter\D*: (\w+)/.exec(error.message)?.[1]
  if (refused !== undefined)
    error.message = `postgres: PgBouncer refuses the startup parameter ${refused}. Set ignore_startup_parameters = ${ignored} in its configuration, and these settings for the role with ALTER ROLE.`
  const missing = isAboutCredentials(error) && missingIn(url)
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
