/** A statement whose text is a constant of the code, apart from its values. Each has the type that a cast in the text gives it. */
export interface Prepared {
  readonly text: string
  readonly values?: readonly Value[] | undefined
}

/** A statement of a message: text as it is, or a statement that connections prepare. */
export type MessageStatement = string | Prepared

/** The fields of a row, as PostgreSQL writes them. */
export type Fields = readonly (string | null)[]

type Value = string | Buffer | null

const harmless = /^[\w .:+-]*$/

/** Returns a message of statements as one text, with their values in it. */
export function textOf(statements: readonly MessageStatement[]): string {
  return statements.map(inlined).join(';\n')
}

function inlined(statement: MessageStatement) {
  if (typeof statement === 'string') return statement
  const { text, values = [] } = statement
  return values.length === 0 ? text : text.replaceAll(/\$(\d+)/g, (_, index: string) => literal(values[Number(index) - 1] as Value))
}

// The alphabet of base64 needs no quotes, whatever the settings of the connection are.
function literal(value: Value) {
  if (value === null) return 'NULL'
  if (typeof value !== 'string') return bytes(value)
  return harmless.test(value) ? `'${value}'` : `convert_from(${bytes(Buffer.from(value))}, 'UTF8')`
}

function bytes(value: Buffer) {
  return `decode('${value.toString('base64')}', 'base64')`
}

/** The part of a connection of `pg` that sends prepared statements. */
interface Connection {
  readonly stream: { cork(): void; uncork(): void }
  parse(statement: { readonly name: string; readonly text: string }): void
  bind(portal: { readonly statement: string; readonly values: readonly Value[] }): void
  execute(portal: { readonly portal: string; readonly rows: number }): void
  sync(): void
  [statementsKey]?: KnownStatements | undefined
}

/** What is known of the statements of a connection. */
interface KnownStatements {
  /** Whether PostgreSQL is behind the connection. Behind a pooler, it is another process for each transaction, and nothing is prepared. */
  readonly isDirect: boolean
  names: Map<string, string>
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

/** The rows of a statement. */
export type Rows = readonly Fields[]
type Ended = (error: Error | undefined, results: Rows[], command: string) => void
interface Result {
  readonly rows: unknown[]
  readonly rowCount?: number | null | undefined
  readonly command?: string | undefined
}

type Done<Outcome> = (error: Error | undefined, result?: Outcome) => void

/**
 * Calls a function of `pg` with a callback: the promise that it would create itself survives with the whole result until the next full garbage
 * collection. A pool or client that was wrapped may return one nevertheless.
 */
export function withCallback<Outcome>(query: (settle: Done<Outcome>) => unknown, settle: Done<Outcome>): void {
  const result = query(settle) as Promise<Outcome> | undefined
  result?.then((outcome) => settle(undefined, outcome), settle)
}

const statementsKey: unique symbol = Symbol('concordat.postgres.statements')
const whichProcess = 'SELECT pg_backend_pid()'
const asText = { getTypeParser: () => (text: string) => text }

/**
 * Sends statements in one message, and returns the rows of each and the command of the last. PostgreSQL executes them until one fails. They are prepared
 * once for each connection, unless a pooler is in between: the first message of a connection asks which process responds.
 */
export function sendMessage(client: MessageClient, statements: readonly MessageStatement[], ended: Ended): void {
  const connection = connectionOf(client)
  const known = connection?.[statementsKey]
  if (known?.isDirect && statements.every((statement) => typeof statement !== 'string')) {
    client.query(new PreparedMessage(statements, known, ended) as object as Prepared)
    return
  }
  const asks = connection !== undefined && known === undefined && !/\b(?:COMMIT|ROLLBACK)$/.test(textOf(statements.slice(-1)))
  const text = textOf(asks ? [...statements, whichProcess] : statements)
  const settle = (error: Error | undefined, result?: Result | readonly Result[]) => {
    if (error) return ended(error, [], '')
    // For several statements, pg returns a list of results.
    const results = [result].flat() as Result[]
    if (asks) {
      const [last] = results.splice(-1)
      const isDirect = Number((last?.rows as Rows | undefined)?.[0]?.[0]) === client.processID
      connection[statementsKey] = { isDirect, names: new Map(), generation: 0 }
    }
    ended(
      undefined,
      results.map(({ rows }) => rows as Rows),
      results.at(-1)?.command ?? ''
    )
  }
  const message = { text, rowMode: 'array', types: asText }
  withCallback((done) => client.query(message, undefined, done), settle)
}

// A client that was replaced may have no connection of pg. In its pipeline mode, pg accepts no queries of others.
function connectionOf({ connection, pipeline }: MessageClient): Connection | undefined {
  const { bind, stream } = (connection ?? {}) as Partial<Connection>
  return pipeline === true || bind === undefined || stream?.cork === undefined ? undefined : (connection as Connection)
}

/** A message of prepared statements, as what `query` of a `pg` client accepts. Nothing describes its results, so that only their text is parsed. */
class PreparedMessage {
  readonly #statements: readonly Prepared[]
  readonly #known: KnownStatements
  readonly #ended: Ended
  readonly #results: Rows[] = []
  #fresh: Map<string, string> | undefined
  #rows: Fields[] = []
  #command = ''

  constructor(statements: readonly Prepared[], known: KnownStatements, ended: Ended) {
    this.#statements = statements
    this.#known = known
    this.#ended = ended
  }

  submit(connection: Connection): void {
    const { stream } = connection
    stream.cork()
    try {
      for (const { text, values = [] } of this.#statements) {
        connection.bind({ statement: this.#nameOf(text, connection), values })
        connection.execute({ portal: '', rows: 0 })
      }
      connection.sync()
    } finally {
      stream.uncork()
    }
  }

  handleDataRow({ fields }: { readonly fields: Fields }): void {
    this.#rows.push(fields)
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    this.#results.push(this.#rows)
    this.#rows = []
    this.#command = text
  }

  handleReadyForQuery(): void {
    for (const [text, name] of this.#fresh ?? []) this.#known.names.set(text, name)
    this.#ended(undefined, this.#results, this.#command)
  }

  handleError(error: Error): void {
    // Which statements PostgreSQL has prepared is unknown, or one has to be prepared again because its tables have changed.
    this.#known.generation += 1
    this.#known.names = new Map()
    this.#ended(error, [], '')
  }

  #nameOf(text: string, connection: Connection): string {
    const { names, generation } = this.#known
    const known = names.get(text) ?? this.#fresh?.get(text)
    if (known !== undefined) return known
    this.#fresh ??= new Map()
    const name = `cc${generation}.${names.size + this.#fresh.size}`
    this.#fresh.set(text, name)
    connection.parse({ name, text })
    return name
  }
}
