import type { Statement, StatementResult } from '../session.ts'

type Execute = (statement: Statement) => Promise<StatementResult>

const executors = new WeakMap<object, Execute>()

/** Sets the function that runs statements in the transaction of a handler. */
export function setExecutor(transaction: object, execute: Execute): void {
  executors.set(transaction, execute)
}

/** Returns the function that runs statements in the transaction of a handler. Throws a `TypeError` for any other object. */
export function executorOf(transaction: object): Execute {
  const execute = executors.get(transaction)
  if (execute === undefined)
    throw new TypeError('postgres: the transaction does not belong to the unit of work. Pass request.transaction or currentTransaction().')
  return execute
}
