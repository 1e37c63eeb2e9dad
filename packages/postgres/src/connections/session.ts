import type { MessageStatement, Rows } from './message.ts'

/** The result of one statement. */
export interface QueryResult<Row extends object = Record<string, unknown>> {
  readonly rows: Row[]
  /** The number of rows returned, or of rows changed if none were returned. */
  readonly rowCount: number
}

/** Options for the start of a transaction. */
export interface Opening {
  /** The isolation level. @default the default of the database */
  readonly isolation?: 'read committed' | 'repeatable read' | 'serializable' | undefined
  readonly readOnly?: boolean | undefined
  /** How long the transaction may be idle before the server ends it, in case the client has disappeared. */
  readonly idleMs?: number | undefined
  /** Statements that are sent with BEGIN in one message. */
  readonly statements?: readonly MessageStatement[] | undefined
  /** The tenant whose rows it can see, where the database has a setting for it. @default the tenant of the request of the current handler */
  readonly tenant?: string | undefined
  /** The route whose handler opens the transaction. @default the route of the current handler */
  readonly route?: object | undefined
}

/** A statement with the form of its result, as in the query config of `pg`. Its other properties, such as `name`, are passed to `pg` too. */
export interface Statement {
  readonly text: string
  readonly values?: unknown[] | undefined
  /** Returns each row as an array of its columns. */
  readonly rowMode?: 'array' | undefined
  /** Parses the columns instead of the parsers of the driver. */
  readonly types?: { getTypeParser(oid: number, format: 'text'): (text: string) => unknown } | undefined
}

export interface StatementResult {
  readonly rows: unknown[]
  readonly rowCount?: number | null | undefined
  readonly command?: string | undefined
}

/** A transaction that is open on its own connection. */
export interface Session {
  /** Runs a statement, which the connection prepares if `isPrepared`. */
  query(text: string, values: readonly unknown[], isPrepared?: boolean): Promise<QueryResult>
  /** Runs a single statement as it is: a text with several is refused. */
  execute(statement: Statement): Promise<StatementResult>
  /** Sends statements in one message, and returns the rows of each. */
  send(statements: readonly MessageStatement[]): Promise<Rows[]>
  /**
   * Commits the transaction. Rejects with {@link IgnoredFailure} when PostgreSQL rolled back instead. The `last` statements are sent with COMMIT in one
   * message: when one fails, nothing is committed. The transaction has ended in any case.
   */
  commit(last?: readonly MessageStatement[]): Promise<void>
  /** Rolls the transaction back; never rejects. A statement that is still running is aborted if the driver can do that. */
  rollback(): Promise<void>
}

/** An open transaction, with the rows of each statement that was sent with BEGIN. */
export interface Opened {
  readonly session: Session
  readonly results: readonly Rows[]
}

/** The error for a COMMIT that rolled back because a statement had failed. */
export class IgnoredFailure extends Error {
  constructor() {
    super('postgres: the transaction was rolled back because a failed statement in it was ignored.')
  }
}

/** Returns the transaction modes as SQL, to append to BEGIN or SET TRANSACTION. */
export function modesOf({ isolation, readOnly }: Opening): string {
  return `${isolation ? ` ISOLATION LEVEL ${isolation.toUpperCase()}` : ''}${readOnly ? ' READ ONLY' : ''}`
}
