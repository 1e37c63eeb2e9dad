import { withDeadline } from '@concordat/plugin-kit/deadline'
import { transactionConflict, transactionEnded } from '../connections/errors.ts'
import { isRefusal } from '../connections/failure.ts'
import { handlerContexts } from '../connections/handler-context.ts'
import type { Postgres } from '../connections/postgres.ts'
import { pauseBefore } from './handler-run.ts'
import { Unit } from './unit.ts'

interface RunAsOneOptions {
  readonly database: Postgres
  readonly tenant: string | undefined
  /** The time after which the transaction is rolled back, even if work in it is still running. */
  readonly timeoutSeconds: number
  /** Called with each error that would otherwise be lost. */
  readonly onFault: (error: unknown) => void
}

const maxWaitMs = 10_000
// The number is arbitrary: an advisory lock belongs to the database. Once it is held, locks have their usual timeout again.
const lock = ["SET LOCAL lock_timeout = '5s'", 'SELECT pg_advisory_xact_lock(7074368253812470894)', 'SET LOCAL lock_timeout TO DEFAULT']

/** The end of the last transaction that runs or waits in this process, by database. */
const ends = new WeakMap<Postgres, Promise<void>>()

/**
 * Runs `work` in one transaction, which includes the requests that it injects on routes with `config.transaction`: committed when `work` resolves,
 * rolled back when it rejects, and run again after a conflict, as often as the `maxRetries` of all these routes allow. Such transactions of all
 * processes run one after another. Throws `TRANSACTION_CONFLICT` if its turn does not come in ten seconds, or a transaction of another process takes more
 * than five, and `TRANSACTION_ENDED` after its timeout.
 */
export async function runAsOne<Result>(options: RunAsOneOptions, work: () => Promise<Result>): Promise<Result> {
  const { database } = options
  const before = ends.get(database) ?? Promise.resolve()
  const { promise: end, resolve } = Promise.withResolvers<void>()
  // Those that wait in this process hold no connection: otherwise they could take all that the running one needs.
  ends.set(
    database,
    before.then(() => end)
  )
  try {
    await withDeadline(before, {
      ms: maxWaitMs,
      onTimeout: () => transactionConflict(new Error('The transactions before it take too long.'))
    })
    return await runInTurn(options, work)
  } finally {
    resolve()
  }
}

async function runInTurn<Result>(
  { database, tenant, timeoutSeconds, onFault }: RunAsOneOptions,
  work: () => Promise<Result>
): Promise<Result> {
  for (let attempt = 0; ; attempt += 1) {
    const unit = new Unit(
      { database, outer: undefined, route: handlerContexts.getStore()?.route, tenant, onFault },
      { isolation: undefined, maxRetries: 0, readOnly: false, timeoutMs: timeoutSeconds * 1000 }
    )
    // Work that hangs must not hold up those that wait for their turn.
    const { promise: over, reject } = Promise.withResolvers<never>()
    over.catch(() => {})
    unit.afterEnd(() => reject(transactionEnded()))
    try {
      await begin(unit)
      const result = await Promise.race([handlerContexts.run(unit, work), over])
      await unit.commit()
      return result
    } catch (error) {
      if (attempt >= unit.session.retriesAfterConflict) throw error
      unit.repeat()
    } finally {
      await unit.abort()
    }
    await pauseBefore(attempt)
  }
}

async function begin(unit: Unit) {
  try {
    await unit.session.beginWith({ statements: lock, accept: () => true })
  } catch (error) {
    throw isRefusal(error) ? transactionConflict(error) : error
  }
}
