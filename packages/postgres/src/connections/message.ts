import {
  type Connection,
  forgetStatements,
  isStale,
  type KnownStatements,
  knownOf,
  learnProcess,
  type MessageClient,
  type Prepared,
  type Result,
  type Value,
  whichProcess,
  withCallback
} from './pg-client.ts'

/** A statement of a message: text as it is, or a statement that connections prepare. */
export type MessageStatement = string | Prepared

/** The fields of a row, as PostgreSQL writes them. */
export type Fields = readonly (string | null)[]

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

/** The rows of a statement. */
export type Rows = readonly Fields[]
type Ended = (error: Error | undefined, results: Rows[], command: string) => void
const asText = { getTypeParser: () => (text: string) => text }

/**
 * Sends statements in one message, and returns the rows of each and the command of the last. PostgreSQL executes them until one fails. They are prepared
 * once for each connection, unless a pooler is in between: the first message of a connection asks which process responds. If the message is whole, nothing
 * before it belongs to its transaction: when PostgreSQL refuses what it has prepared, the message is rolled back and sent once more.
 */
export function sendMessage(client: MessageClient, statements: readonly MessageStatement[], isWhole: boolean, ended: Ended): void {
  const known = knownOf(client)
  if (!known?.isDirect || statements.some((statement) => typeof statement === 'string')) return sendText(client, statements, ended)
  const settle: Ended = (error, ...outcome) => {
    if (!isWhole || !isStale(error)) return ended(error, ...outcome)
    forgetStatements(known)
    // Outside a transaction, ROLLBACK is only a warning.
    sendText(client, ['ROLLBACK'], (failure) => (failure ? ended(failure, [], '') : sendMessage(client, statements, false, ended)))
  }
  client.query(new PreparedMessage(statements as readonly Prepared[], known, settle) as object as Prepared)
}

function sendText(client: MessageClient, statements: readonly MessageStatement[], ended: Ended) {
  const asks = knownOf(client) === undefined && !/\b(?:COMMIT|ROLLBACK)$/.test(textOf(statements.slice(-1)))
  const text = textOf(asks ? [...statements, whichProcess] : statements)
  const settle = (error: Error | undefined, result?: Result | readonly Result[]) => {
    if (error) return ended(error, [], '')
    // For several statements, pg returns a list of results.
    const results = [result].flat() as Result[]
    if (asks) learnProcess(client, results.splice(-1)[0]?.rows)
    ended(
      undefined,
      results.map(({ rows }) => rows as Rows),
      results.at(-1)?.command ?? ''
    )
  }
  const message = { text, rowMode: 'array', types: asText }
  withCallback((done) => client.query(message, undefined, done), settle)
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
