import { once } from 'node:events'
import type { FastifyBaseLogger, FastifyReply } from 'fastify'
import { inProgress, responseTooLarge } from '../errors.ts'
import type { Settings } from '../options.ts'
import { compressed } from '../stored/compression.ts'
import type { StoredResponse } from '../stored/store.ts'
import { incomplete, storedFormOf } from '../stored/stored-form.ts'
import { bodyOf, isTransient, isWhole, responseOf } from '../stored/stored-response.ts'
import type { Heartbeat } from './heartbeat.ts'
import { leaseCalls } from './lease-calls.ts'
import type { MissedCalls } from './missed-calls.ts'
import { lifetimeOf, type Run } from './run.ts'

/** Handles the response of a handler that ran under a claim. */
export interface Settlement {
  /** Stores the response or releases the key, inside the transaction of the claim. Rejects when the response is too large to be stored. */
  inTransaction(run: Run, reply: FastifyReply, payload: unknown): Promise<void> | undefined
  /** Stores the response or releases the key, and returns the payload to send: that of another owner if it took over the claim and stored one. */
  byLease(run: Run, reply: FastifyReply, payload: unknown): unknown
  /** Records that the request completed, once the response has ended without passing through the hooks. */
  sendsItself(run: Run, reply: FastifyReply): void
  /** Records that the request completed if there is still no response after the duration of a lease. */
  responseMissing(run: Run, reply: FastifyReply): void
}

type Fields = Settings['responseFields']
type Outcome = Parameters<Settlement['inTransaction']>

/** Creates the settlement that stores responses. */
export function settlementOf(settings: Settings, heartbeat: Heartbeat, missedCalls: MissedCalls, log: FastifyBaseLogger): Settlement {
  const { countOutcome, responseFields, leaseMs } = settings
  const { keep, complete, release, giveWay } = leaseCalls(settings, heartbeat, missedCalls, log)

  return { inTransaction: (...outcome) => settleInTransaction(settings, ...outcome), byLease, sendsItself, responseMissing }

  function byLease(run: Run, reply: FastifyReply, payload: unknown) {
    run.isSettled = true
    const isFree = leavesKeyFree(run, reply.statusCode)
    if ((isFree || run.progress !== undefined) && hasTimedOut(run, reply)) {
      void settleLater(run, reply, payload)
      return payload
    }
    if (isFree) return release(run, payload)
    const response = storedResponse(run, reply, payload, responseFields)
    const storing = run.isLost ? 'lost' : keep(run, run.claim, response)
    if (storing !== 'stored') return whenStored(storing, response, run, reply, payload)
    heartbeat.letGo(run)
    countOutcome(nameOf(response))
    return payload
  }

  // A handler that continues after its timeout may still take effect, so no retry may run before its end. When its claim cannot be renewed any
  // longer, `whenOutcomeUnknown` decides.
  async function settleLater(...[run, reply, payload]: Outcome) {
    const sent = finalResponse(run, reply, payload, responseFields)
    if (!run.signal.aborted) await Promise.race([run.whenEnded(), once(run.signal, 'abort')])
    if (run.signal.aborted) return
    if (leavesKeyFree(run, sent.status)) await release(run, payload)
    else await storeLate(run, run.progress === undefined ? sent : progressOf(run, sent.status))
  }

  async function storeLate(run: Run, response: StoredResponse) {
    const outcome = await complete(run, run.claim, response)
    heartbeat.letGo(run)
    countOutcome(outcome === 'stored' ? nameOf(response) : 'responseNotStored')
  }

  async function whenStored(storing: 'lost' | Promise<'stored' | 'lost'>, response: StoredResponse, ...[run, reply, payload]: Outcome) {
    try {
      const outcome = storing === 'lost' ? storing : await complete(run, run.claim, response, storing)
      if (outcome === 'lost') return await giveWay(run, reply, payload, response)
      countOutcome(outcome === 'stored' ? nameOf(response) : 'responseNotStored')
      return payload
    } finally {
      heartbeat.letGo(run)
    }
  }

  function sendsItself(run: Run, reply: FastifyReply) {
    if (run.isInTransaction) return
    const ended = () => {
      if (!run.isSettled && reply.raw.headersSent) void unseen(run, reply)
    }
    if (reply.raw.destroyed) ended()
    else reply.raw.once('close', ended)
  }

  function responseMissing(run: Run, reply: FastifyReply) {
    if (run.isInTransaction) return
    setTimeout(() => {
      if (!run.isSettled) void unseen(run, reply)
    }, leaseMs).unref()
  }

  async function unseen(run: Run, reply: FastifyReply) {
    run.isSettled = true
    await storeLate(run, { status: reply.statusCode, headers: {}, body: null })
  }
}

function settleInTransaction(settings: Settings, ...[run, reply, payload]: Outcome): Promise<void> | undefined {
  run.isSettled = true
  const isFree = leavesKeyFree(run, reply.statusCode)
  const response = isFree ? undefined : storedResponse(run, reply, payload, settings.responseFields)
  // Nothing is committed yet, so the client can still learn that a retry could not get this response.
  if (response?.body === null && isWhole(payload)) {
    settings.countOutcome('responseTooLarge')
    throw responseTooLarge(run.policy.maxStoredBytes)
  }
  const form = response && compressed(response)
  return form instanceof Promise ? form.then((late) => writeInTransaction(settings, run, late)) : writeInTransaction(settings, run, form)
}

// What is known synchronously does not wait for a microtask.
function writeInTransaction({ store, countOutcome }: Settings, run: Run, response: StoredResponse | undefined): Promise<void> | undefined {
  const ended = (outcome: 'stored' | 'released' | 'lost') => {
    if (outcome === 'lost') {
      countOutcome('claimLost')
      throw inProgress(0)
    }
    countOutcome(response ? nameOf(response) : 'released')
  }
  const written = response ? store.complete(run.claim, response, lifetimeOf(run)) : store.release(run.claim)
  if (written instanceof Promise) return (written as Promise<'stored' | 'released' | 'lost'>).then(ended)
  ended(written)
  return undefined
}

function storedResponse(run: Run, reply: FastifyReply, payload: unknown, fields: Fields): StoredResponse {
  return run.progress === undefined ? finalResponse(run, reply, payload, fields) : progressOf(run, reply.statusCode)
}

function finalResponse({ policy, storedBody, isOverLimit }: Run, reply: FastifyReply, payload: unknown, fields: Fields): StoredResponse {
  const response = responseOf(reply, payload, fields, policy.maxStoredBytes)
  if (storedBody !== undefined && response.body !== null) return incomplete(response, storedBody)
  return isOverLimit || policy.secrets.size > 0 ? storedFormOf(response, { secrets: policy.secrets, isOverLimit }) : response
}

function progressOf({ progress, policy }: Run, status: number): StoredResponse {
  const body = bodyOf(progress, policy.maxStoredBytes)
  return { status, headers: {}, body, isProgress: body !== null }
}

function nameOf({ isProgress }: StoredResponse) {
  return isProgress ? 'continued' : 'ran'
}

/** Returns whether a response with this status code is not stored, so that a retry runs the handler again. */
export function leavesKeyFree({ isReleased, progress, isInTransaction, transaction, policy }: Run, status: number) {
  if (isReleased || progress !== undefined) return isReleased
  return isTransient(status, isInTransaction || transaction?.isRolledBack ? 'release' : policy.serverErrors)
}

// A timeout aborts the signal of the request, and so does a client that disconnects. A handler that sends its response itself ends unnoticed.
function hasTimedOut({ isRunning }: Run, { request, raw }: FastifyReply) {
  return isRunning && request.signal.aborted && !raw.destroyed
}
