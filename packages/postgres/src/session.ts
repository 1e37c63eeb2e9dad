/** What one statement answered. */
export interface Answer<Row extends object = Record<string, unknown>> {
  readonly rows: Row[]
  /** How many rows were answered, or changed where none were answered. */
  readonly rowCount: number
}

/** The isolation of a transaction, as PostgreSQL calls it. */
export type Isolation = 'read committed' | 'repeatable read' | 'serializable'

/** How a transaction begins. */
export interface Opening {
  /** @default what the database has as its default */
  readonly isolation?: Isolation | undefined
  readonly readOnly?: boolean | undefined
  /** After which time without a statement the server ends it, for a client that is gone without a word. */
  readonly idleMilliseconds?: number | undefined
  /** What is sent with BEGIN in one message, so without values. */
  readonly statements?: readonly string[] | undefined
}

/** A transaction that is open on a connection of its own. Each call waits for the one before it. */
export interface Session {
  query(text: string, values: readonly unknown[]): Promise<Answer>
  /** Sends statements without values in one message; answers the rows of each. */
  send(statements: readonly string[]): Promise<Rows[]>
  /** Rejects with {@link IgnoredFailure} when PostgreSQL rolled back instead. However it went, the transaction has ended. */
  commit(): Promise<void>
  /** Never rejects. A statement that still runs is cut off where the driver can do that. */
  rollback(): Promise<void>
}

type Rows = readonly unknown[]

/** A transaction that has begun, with the rows of each statement of its opening. */
export interface Opened {
  readonly session: Session
  readonly answers: readonly Rows[]
}

/** COMMIT was answered by ROLLBACK. */
export class IgnoredFailure extends Error {
  constructor() {
    super('postgres: the transaction was rolled back, because a failed statement in it was ignored.')
  }
}

/** The words behind BEGIN or SET TRANSACTION. */
export function modesOf({ isolation, readOnly }: Opening): string {
  return `${isolation ? ` ISOLATION LEVEL ${isolation.toUpperCase()}` : ''}${readOnly ? ' READ ONLY' : ''}`
}
