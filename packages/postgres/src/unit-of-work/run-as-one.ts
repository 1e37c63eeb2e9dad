import { handlerTransactions } from '../open-transaction.ts'
import type { Postgres } from '../postgres.ts'
import { Unit } from './unit.ts'

/** What {@link runAsOne} needs to know. */
export interface CommonTransaction {
  readonly database: Postgres
  /** After which time it is rolled back, whatever is still being done in it. */
  readonly timeoutMilliseconds: number
  /** Is told of what nobody else would hear. */
  readonly onFault: (error: unknown) => void
}

/**
 * Runs `work` in one transaction: the requests on routes with `config.transaction` that it injects are parts of it, each kept or returned
 * by itself. All that they did is committed when `work` resolves, and rolled back when it rejects.
 */
export async function runAsOne<Result>(
  { database, timeoutMilliseconds, onFault }: CommonTransaction,
  work: () => Promise<Result>
): Promise<Result> {
  const unit = new Unit({ database, outer: undefined, onFault }, { isolation: undefined, retries: 0, readOnly: false, timeoutMilliseconds })
  try {
    const result = await handlerTransactions.run(unit, work)
    await unit.commit()
    return result
  } finally {
    await unit.abort()
  }
}
