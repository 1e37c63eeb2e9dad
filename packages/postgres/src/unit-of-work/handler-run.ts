import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import { transactionConflict } from '../connections/errors.ts'
import { isConflict } from '../connections/failure.ts'
import { handlerContexts } from '../connections/handler-context.ts'
import { refuseHijack, snapshotOf } from './reply.ts'
import type { Unit } from './unit.ts'

const shortestPauseMs = 5

/** Waits for a random time, which doubles with each attempt, before a transaction that conflicted runs again. */
export async function pauseBefore(attempt: number): Promise<void> {
  await delay(Math.random() * shortestPauseMs * 2 ** attempt)
}

/** Runs a handler in its transaction. Runs it again if the transaction conflicted with others and retries are left. */
export function runHandler(unit: Unit, reply: FastifyReply, maxRetries: number, handler: () => unknown): unknown {
  const restore = maxRetries > 0 ? snapshotOf(reply) : undefined
  const run = () => handlerContexts.run(unit, handler)
  refuseHijack(reply)
  unit.session.enterHandler()
  const result = run()
  // The result of a handler that calls reply.send later must not be a promise of undefined.
  return result !== reply && isPromise(result) ? finish(result, 0) : result

  async function finish(pending: PromiseLike<unknown>, attempt: number): Promise<unknown> {
    try {
      const payload = await pending
      // When the client has disconnected, Fastify does not send an empty response, and the transaction would not end. In other cases,
      // undefined may come from a handler that has returned `reply` and will send later.
      if (payload === undefined && reply.statusCode === 204 && unit.phase === 'running' && reply.raw.destroyed) reply.send()
      return payload
    } catch (thrown) {
      const error = unit.session.reasonOf(thrown)
      if (!isConflict(error)) throw error
      if (restore === undefined || attempt >= maxRetries || unit.phase !== 'running' || !unit.session.canRestart)
        throw transactionConflict(error)
      await unit.restart()
      await pauseBefore(attempt)
      restore()
      return finish(Promise.resolve(run()), attempt + 1)
    }
  }
}

function isPromise(result: unknown): result is PromiseLike<unknown> {
  return typeof (result as { readonly then?: unknown } | null | undefined)?.then === 'function'
}
