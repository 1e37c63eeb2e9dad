import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyBaseLogger, FastifyReply } from 'fastify'
import { compressed, decompressed } from './compression.ts'
import { inProgress, responseTooLarge } from './errors.ts'
import type { Heartbeat } from './heartbeat.ts'
import type { MissedCalls } from './missed-calls.ts'
import type { Settings } from './options.ts'
import type { Run } from './run.ts'
import type { Claim, StoredResponse } from './store.ts'
import { callStore } from './store-call.ts'
import { incomplete, storedFormOf } from './stored-form.ts'
import { bodyOf, discard, isTransient, isWhole, replay, responseOf } from './stored-response.ts'

/** Handles the response of a handler that ran under a claim. */
export interface Settlement {
  /** Stores the response or releases the key, inside the transaction of the claim. Rejects when the response is too large to be stored. */
  inTransaction(run: Run, reply: FastifyReply, payload: unknown): Promise<void>
  /** Stores the response or releases the key, and returns the payload to send: that of another owner if it took over the claim and stored one. */
  byLease(run: Run, reply: FastifyReply, payload: unknown): unknown
  /** Records that the request completed, once the response has ended without passing through the hooks. */
  sendsItself(run: Run, reply: FastifyReply): void
  /** Records that the request completed if there is still no response after the duration of a lease. */
  responseMissing(run: Run, reply: FastifyReply): void
}

const firstPauseMs = 20

/** Creates the settlement that stores responses. */
export function settlementOf(settings: Settings, heartbeat: Heartbeat, missedCalls: MissedCalls, log: FastifyBaseLogger): Settlement {
  const { store, countOutcome, responseFields, leaseMs, maxRunMs, storeTimeoutMs } = settings

  return { inTransaction, byLease, sendsItself, responseMissing }

  async function inTransaction(run: Run, reply: FastifyReply, payload: unknown) {
    run.isSettled = true
    const { claim } = run
    const isFree = leavesKeyFree(run, reply.statusCode)
    const response = isFree ? undefined : storedResponse(run, reply, payload)
    // Nothing is committed yet, so the client can still learn that a retry could not get this response.
    if (response?.body === null && isWhole(payload)) {
      countOutcome('responseTooLarge')
      throw responseTooLarge(run.policy.maxStoredBytes)
    }
    const outcome = response ? await store.complete(claim, await compressed(response), lifetimeOf(run)) : await store.release(claim)
    if (outcome === 'lost') {
      countOutcome('claimLost')
      throw inProgress(0)
    }
    countOutcome(response ? nameOf(response) : 'released')
  }

  function byLease(run: Run, reply: FastifyReply, payload: unknown) {
    run.isSettled = true
    const isFree = leavesKeyFree(run, reply.statusCode)
    if ((isFree || run.progress !== undefined) && hasTimedOut(run, reply)) {
      void settleLater(run, reply, payload)
      return payload
    }
    if (isFree) return release(run, payload)
    const response = storedResponse(run, reply, payload)
    const storing = run.isLost ? 'lost' : keep(run, run.claim, response)
    if (storing !== 'stored') return whenStored(storing, response, run, reply, payload)
    heartbeat.letGo(run)
    countOutcome(nameOf(response))
    return payload
  }

  // A handler that continues after its timeout may still take effect, so no retry may run before its end. When its claim cannot be renewed any
  // longer, `whenOutcomeUnknown` decides.
  async function settleLater(...[run, reply, payload]: Parameters<Settlement['byLease']>) {
    const sent = finalResponse(run, reply, payload)
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

  async function whenStored(
    storing: 'lost' | Promise<'stored' | 'lost'>,
    response: StoredResponse,
    ...[run, reply, payload]: Parameters<Settlement['byLease']>
  ) {
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

  function storedResponse(run: Run, reply: FastifyReply, payload: unknown): StoredResponse {
    return run.progress === undefined ? finalResponse(run, reply, payload) : progressOf(run, reply.statusCode)
  }

  function finalResponse(run: Run, reply: FastifyReply, payload: unknown): StoredResponse {
    const { policy, storedBody, isOverLimit } = run
    const response = responseOf(reply, payload, responseFields, policy.maxStoredBytes)
    if (storedBody !== undefined && response.body !== null) return incomplete(response, storedBody)
    return isOverLimit || policy.secrets.size > 0 ? storedFormOf(response, { secrets: policy.secrets, isOverLimit }) : response
  }

  async function release(run: Run, payload: unknown) {
    try {
      await callStore(() => store.release(run.claim), storeTimeoutMs)
    } catch (err) {
      log.warn({ err }, 'idempotency: a key was not released; this is repeated until the store responds')
      missedCalls.add(() => store.release(run.claim))
    }
    heartbeat.letGo(run)
    countOutcome('released')
    return payload
  }

  function keep(run: Run, claim: Claim, response: StoredResponse) {
    const smaller = compressed(response)
    const write = (stored: StoredResponse) => store.complete(claim, stored, lifetimeOf(run))
    return callStore(() => (smaller instanceof Promise ? smaller.then(write) : write(smaller)), storeTimeoutMs)
  }

  // The client gets its response whether or not it is stored, because the request has taken effect.
  async function complete(
    run: Run,
    claim: Claim,
    response: StoredResponse,
    outcome = keep(run, claim, response)
  ): Promise<'stored' | 'lost' | 'failed'> {
    const until = performance.now() + storeTimeoutMs
    for (let pause = firstPauseMs; ; pause *= 2) {
      try {
        return await outcome
      } catch (err) {
        if (performance.now() + pause >= until) {
          log.error({ err }, 'idempotency: a response was not stored yet; retries get 409 until the store responds, or the lease ends')
          missedCalls.add(() => keep(run, claim, response), response.body?.length ?? 0)
          return 'failed'
        }
      }
      await delay(pause)
      outcome = keep(run, claim, response)
    }
  }

  async function giveWay(run: Run, reply: FastifyReply, payload: unknown, response: StoredResponse) {
    countOutcome('claimLost')
    log.warn({ token: run.token }, 'idempotency: a claim was lost before its handler finished')
    const outcome = await readAgain(run)
    // The key is free, or now belongs to another request: this run's own response is the correct one.
    if (outcome.state === 'claimed') await complete(run, outcome.claim, response)
    if (outcome.state === 'claimed' || outcome.state === 'mismatch') return payload
    discard(reply, payload, responseFields)
    if (outcome.state !== 'done') throw inProgress(outcome.state === 'busy' ? outcome.leaseMs : 0)
    const winning = replay(reply, await decompressed(outcome.response))
    return winning ?? null
  }

  async function readAgain({ claim, fingerprint }: Run) {
    // The request has taken effect, so its response is stored whatever the limit of the client is.
    const { client } = claim
    const terms = { leaseMs, lifetimeMs: maxRunMs + leaseMs, takesOver: true, client, maxClientBytes: Number.MAX_SAFE_INTEGER }
    try {
      return await callStore(() => store.begin(claim.key, fingerprint, terms), storeTimeoutMs)
    } catch (err) {
      log.error({ err }, 'idempotency: the claim on an idempotency key was lost, and its record could not be read')
      return { state: 'abandoned' } as const
    }
  }
}

function lifetimeOf({ policy }: Run) {
  return policy.lifetimeSeconds * 1000
}

function progressOf({ progress, policy }: Run, status: number): StoredResponse {
  const body = bodyOf(progress, policy.maxStoredBytes)
  return { status, headers: {}, body, isProgress: body !== null }
}

function nameOf({ isProgress }: StoredResponse) {
  return isProgress ? 'continued' : 'ran'
}

function leavesKeyFree({ isReleased, progress, isInTransaction, transaction, policy }: Run, status: number) {
  if (isReleased || progress !== undefined) return isReleased
  return isTransient(status, isInTransaction || transaction?.isRolledBack ? 'release' : policy.serverErrors)
}

// A timeout aborts the signal of the request, and so does a client that disconnects. A handler that sends its response itself ends unnoticed.
function hasTimedOut({ isRunning }: Run, { request, raw }: FastifyReply) {
  return isRunning && request.signal.aborted && !raw.destroyed
}
