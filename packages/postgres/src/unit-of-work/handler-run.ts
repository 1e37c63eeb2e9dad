import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import { transactionConflict } from '../errors.ts'
import { isConflict } from '../failure.ts'
import { handlerTransactions } from '../open-transaction.ts'
import { refuseHijack, snapshotOf } from './answer.ts'
import type { Unit } from './unit.ts'

const shortestPauseMilliseconds = 5

/** Runs a handler in its transaction, again where it lost a race against other transactions and may be. */
export function runHandler(unit: Unit, reply: FastifyReply, retries: number, handler: () => unknown): unknown {
  const restore = retries > 0 ? snapshotOf(reply) : undefined
  const run = () => handlerTransactions.run(unit, handler)
  refuseHijack(reply)
  unit.enterHandler()
  const result = run()
  // One that answers later by reply.send must not look like a promise of nothing.
  return result !== reply && isPromise(result) ? finish(result, 0) : result

  async function finish(pending: PromiseLike<unknown>, attempt: number): Promise<unknown> {
    try {
      const answer = await pending
      // To a client that is gone Fastify doesn't send nothing, and the transaction would not end. Other nothings may come from a handler
      // that has returned `reply` and will send.
      if (answer === undefined && reply.statusCode === 204 && unit.phase === 'running' && reply.raw.destroyed) reply.send()
      return answer
    } catch (error) {
      if (!isConflict(error)) throw error
      if (restore === undefined || attempt >= retries || !unit.canRestart) throw transactionConflict(error)
      await unit.restart()
      await delay(Math.random() * shortestPauseMilliseconds * 2 ** attempt)
      restore()
      return finish(Promise.resolve(run()), attempt + 1)
    }
  }
}

function isPromise(result: unknown): result is PromiseLike<unknown> {
  return typeof (result as { readonly then?: unknown } | null | undefined)?.then === 'function'
}
