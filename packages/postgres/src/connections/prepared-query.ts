import {
  forgetStatements,
  isStale,
  knownOf,
  learnProcess,
  type MessageClient,
  type Result,
  whichProcess,
  withCallback
} from './pg-client.ts'

type Settle = (error: Error | undefined, result?: Result) => void

// A text is generated for each combination of fields that a client selects or changes. What is beyond that is not prepared.
const maxQueries = 200

/** Returns the config of a statement for `pg`, with a name if the connection prepares it. */
export function preparedConfig(
  client: MessageClient,
  text: string,
  values: readonly unknown[]
): { readonly text: string; readonly name?: string } {
  const known = knownOf(client)
  let name = known?.isDirect ? known.queries.get(text) : undefined
  if (name === undefined && known?.isDirect && known.queries.size < maxQueries) {
    name = `cq${known.generation}.${known.queries.size}`
    known.queries.set(text, name)
  }
  const config = { text, values: [...values] }
  return name === undefined ? config : { ...config, name }
}

/**
 * Runs one statement outside a transaction, which the connection prepares if no pooler is in between. Nothing was executed when PostgreSQL refuses what it
 * has prepared: then it runs once more, prepared again.
 */
export function queryPrepared(client: MessageClient, text: string, values: readonly unknown[], settle: Settle): void {
  if (knownOf(client) !== undefined) return send(true)
  const question = { text: whichProcess, rowMode: 'array' }
  withCallback<Result>(
    (done) => client.query(question, undefined, done),
    (error, result) => {
      if (error) return settle(error)
      learnProcess(client, result?.rows)
      send(true)
    }
  )

  function send(repeats: boolean) {
    withCallback<Result>(
      (done) => client.query(preparedConfig(client, text, values), undefined, done),
      (error, result) => {
        if (!repeats || !isStale(error)) return settle(error, result)
        forgetStatements(knownOf(client))
        send(false)
      }
    )
  }
}
