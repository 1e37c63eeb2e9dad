import { requireKnownNames } from '@concordat/plugin-options'
import { handlerContexts } from '../handler-context.ts'
import type { Postgres } from '../postgres.ts'
import { pauseBefore } from './handler-run.ts'
import { Unit } from './unit.ts'

/** Options of {@link runAsOne}. */
export interface CommonTransaction {
  readonly database: Postgres
  /** The time after which the transaction is rolled back, in seconds, even if work in it is still running. */
  readonly timeoutSeconds: number
  /** Called with each error that would otherwise be lost. */
  readonly onFault: (error: unknown) => void
}

/**
 * Runs `work` in one transaction. The requests that it injects on routes with `config.transaction` are parts of it, and each can be rolled
 * back on its own. All their writes are committed when `work` resolves, and rolled back when it rejects. If it rejects after a serialization
 * failure or a deadlock, it runs again, as often as the `maxRetries` of all these routes allow.
 */
export async function runAsOne<Result>(options: CommonTransaction, work: () => Promise<Result>): Promise<Result> {
  requireKnownNames('unit-of-work', options, { database: true, timeoutSeconds: true, onFault: true })
  const { database, timeoutSeconds, onFault } = options
  for (let attempt = 0; ; attempt += 1) {
    const unit = new Unit(
      { database, outer: undefined, route: handlerContexts.getStore()?.route, onFault },
      { isolation: undefined, maxRetries: 0, readOnly: false, timeoutMs: timeoutSeconds * 1000 }
    )
    try {
      const result = await handlerContexts.run(unit, work)
      await unit.commit()
      return result
    } catch (error) {
      if (attempt >= unit.retriesAfterConflict) throw error
    } finally {
      await unit.abort()
    }
    await pauseBefore(attempt)
  }
}
