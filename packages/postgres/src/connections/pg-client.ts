/** A statement of a message whose text is a constant of the code, apart from its values. Each has the type that a cast in the text gives it. */
export interface Prepared {
  readonly text: string
  readonly values?: readonly Value[] | undefined
}

export type Value = string | Buffer | null

/** The part of a connection of `pg` that sends prepared statements. */
export interface Connection {
  readonly stream: { cork(): void; uncork(): void }
  parse(statement: { readonly name: string; readonly text: string }): void
  bind(portal: { readonly statement: string; readonly values: readonly Value[] }): void
  execute(portal: { readonly portal: string; readonly rows: number }): void
  sync(): void
  [statementsKey]?: KnownStatements | undefined
}

/** What is known of the statements of a connection. */
export interface KnownStatements {
  /** Whether PostgreSQL is behind the connection. Behind a pooler, it is another process for each transaction, and nothing is prepared. */
  readonly isDirect: boolean
  /** The names of the statements of messages, by their text. */
  names: Map<string, string>
  /** The names of the statements that `pg` sends itself. */
  queries: Map<string, string>
  /** Changes when it is unknown which statements PostgreSQL has prepared. */
  generation: number
}

/** The part of a `pg` client that sends messages. */
export interface MessageClient {
  query(sql: string | { readonly text: string }, values?: unknown[], done?: (error: Error | undefined, result: Result) => void): unknown
  readonly connection?: unknown
  readonly processID?: number | null | undefined
  readonly pipeline?: boolean | undefined
}

/** The result of a statement of `pg`. */
export interface Result {
  readonly rows: unknown[]
  readonly rowCount?: number | null | undefined
  readonly command?: string | undefined
}

/** Receives the error or the result of a call. */
export type Done<Outcome> = (error: Error | undefined, result?: Outcome) => void

/**
 * Calls a function of `pg` with a callback: the promise that it would create itself survives with the whole result until the next full garbage
 * collection. A pool or client that was wrapped may return one nevertheless.
 */
export function withCallback<Outcome>(query: (settle: Done<Outcome>) => unknown, settle: Done<Outcome>): void {
  const result = query(settle) as Promise<Outcome> | undefined
  result?.then((outcome) => settle(undefined, outcome), settle)
}

const statementsKey: unique symbol = Symbol('concordat.postgres.statements')

/** The statement whose row tells {@link learnProcess} which process responds. */
export const whichProcess = 'SELECT pg_backend_pid()'

// A client that was replaced may have no connection of pg. In its pipeline mode, pg accepts no queries of others.
function connectionOf({ connection, pipeline }: MessageClient): Connection | undefined {
  const { bind, stream } = (connection ?? {}) as Partial<Connection>
  return pipeline === true || bind === undefined || stream?.cork === undefined ? undefined : (connection as Connection)
}

/** Returns what is known of the statements of a connection, and `undefined` before it was asked for its process. `null`: it prepares none. */
export function knownOf(client: MessageClient): KnownStatements | undefined | null {
  const connection = connectionOf(client)
  return connection === undefined ? null : connection[statementsKey]
}

/** Stores which process responds on the connection. A pooler announces another one. */
export function learnProcess(client: MessageClient, [row]: readonly unknown[] = []): void {
  const connection = connectionOf(client)
  const isDirect = Number((row as readonly unknown[] | undefined)?.[0]) === client.processID
  if (connection !== undefined) connection[statementsKey] = { isDirect, names: new Map(), queries: new Map(), generation: 0 }
}

/** Prepares all statements of the connection again, at their next use, with other names. */
export function forgetStatements(known: KnownStatements | undefined | null): void {
  if (known) Object.assign(known, { names: new Map(), queries: new Map(), generation: known.generation + 1 })
}

/**
 * Returns whether PostgreSQL refused a prepared statement, and has not begun to execute it, because it has dropped it (26000), or its result would have
 * other types since a table was changed: the code of that, 0A000, has other meanings too.
 */
export function isStale(error: unknown): boolean {
  const { code, routine } = (error ?? {}) as { readonly code?: unknown; readonly routine?: unknown }
  return code === '26000' || (code === '0A000' && routine === 'RevalidateCachedQuery')
}
