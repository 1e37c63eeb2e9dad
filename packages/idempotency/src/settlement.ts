import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify'
import { inProgress } from './errors.ts'
import type { Heartbeat } from './heartbeat.ts'
import { inTime } from './in-time.ts'
import type { Settings } from './options.ts'
import type { Run } from './run.ts'
import type { Claim, StoredAnswer } from './store.ts'
import { answerOf, discard, isTransient, replay } from './stored-answer.ts'

/** Handles the response of a handler that ran under a claim. */
export interface Settlement {
  /** Stores the response or releases the key, inside the transaction of the claim. */
  inTransaction(run: Run, request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<void>
  /**
   * Stores the response or releases the key, and returns the payload to send: that of another owner if the claim was lost to it. When the
   * store completes synchronously, no promise is returned.
   */
  byLease(run: Run, request: FastifyRequest, reply: FastifyReply, payload: unknown): unknown
  /** Records that the request completed, once the response has ended without passing through the hooks. */
  sendsItself(run: Run, request: FastifyRequest, reply: FastifyReply): void
  /** Records the same when there is still no response after the duration of a lease. */
  unanswered(run: Run, request: FastifyRequest, reply: FastifyReply): void
}

const firstPauseMilliseconds = 20

/** Creates the settlement that stores responses. */
export function settlementOf(settings: Settings, heartbeat: Heartbeat, log: FastifyBaseLogger): Settlement {
  const { store, onOutcome, answerFields, leaseMilliseconds, longestRunMilliseconds, storeTimeoutMilliseconds } = settings

  return { inTransaction, byLease, sendsItself, unanswered }

  async function inTransaction(run: Run, request: FastifyRequest, reply: FastifyReply, payload: unknown) {
    run.isSettled = true
    const { claim } = run
    const isFree = leavesKeyFree(run, reply)
    const outcome = isFree ? await store.release(claim) : await store.complete(claim, keptAnswer(run, reply, payload), lifetimeOf(run))
    if (outcome === 'lost') {
      onOutcome('claimLost', request)
      throw inProgress(0)
    }
    onOutcome(isFree ? 'released' : 'ran', request)
  }

  function byLease(run: Run, request: FastifyRequest, reply: FastifyReply, payload: unknown) {
    run.isSettled = true
    if (leavesKeyFree(run, reply)) return release(run, request, payload)
    const answer = keptAnswer(run, reply, payload)
    const kept = run.isLost ? 'lost' : keep(run, run.claim, answer)
    if (kept !== 'stored') return whenKept(kept, answer, run, request, reply, payload)
    heartbeat.letGo(run)
    onOutcome('ran', request)
    return payload
  }

  async function whenKept(
    kept: 'lost' | Promise<'stored' | 'lost'>,
    answer: StoredAnswer,
    ...[run, request, reply, payload]: Parameters<Settlement['byLease']>
  ) {
    try {
      const outcome = kept === 'lost' ? kept : await complete(run, run.claim, answer, kept)
      if (outcome === 'lost') return await giveWay(run, request, reply, payload, answer)
      onOutcome(outcome === 'stored' ? 'ran' : 'answerNotStored', request)
      return payload
    } finally {
      heartbeat.letGo(run)
    }
  }

  function sendsItself(run: Run, request: FastifyRequest, reply: FastifyReply) {
    if (run.isInTransaction) return
    const ended = () => {
      if (!run.isSettled && reply.raw.headersSent) void unseen(run, request, reply)
    }
    if (reply.raw.destroyed) ended()
    else reply.raw.once('close', ended)
  }

  function unanswered(run: Run, request: FastifyRequest, reply: FastifyReply) {
    if (run.isInTransaction) return
    setTimeout(() => {
      if (!run.isSettled) void unseen(run, request, reply)
    }, leaseMilliseconds).unref()
  }

  async function unseen(run: Run, request: FastifyRequest, reply: FastifyReply) {
    run.isSettled = true
    const outcome = await complete(run, run.claim, { status: reply.statusCode, headers: {}, body: null })
    heartbeat.letGo(run)
    onOutcome(outcome === 'stored' ? 'ran' : 'answerNotStored', request)
  }

  function keptAnswer({ policy }: Run, reply: FastifyReply, payload: unknown) {
    return answerOf(reply, payload, answerFields, policy.maximumStoredBytes)
  }

  // A key that is not released becomes free when its lease ends.
  async function release(run: Run, request: FastifyRequest, payload: unknown) {
    try {
      await inTime(() => store.release(run.claim), storeTimeoutMilliseconds)
    } catch (err) {
      log.warn({ err }, 'idempotency: a key was not released')
    }
    heartbeat.letGo(run)
    onOutcome('released', request)
    return payload
  }

  function keep(run: Run, claim: Claim, answer: StoredAnswer) {
    return inTime(() => store.complete(claim, answer, lifetimeOf(run)), storeTimeoutMilliseconds)
  }

  // The client gets its response whether or not it is stored, because the request has taken effect.
  async function complete(
    run: Run,
    claim: Claim,
    answer: StoredAnswer,
    kept = keep(run, claim, answer)
  ): Promise<'stored' | 'lost' | 'failed'> {
    const until = performance.now() + storeTimeoutMilliseconds
    for (let pause = firstPauseMilliseconds; ; pause *= 2) {
      try {
        return await kept
      } catch (err) {
        if (performance.now() + pause >= until) {
          log.error({ err }, 'idempotency: a response was not stored; retries get 409 until the lease ends')
          return 'failed'
        }
      }
      await delay(pause)
      kept = keep(run, claim, answer)
    }
  }

  async function giveWay(run: Run, request: FastifyRequest, reply: FastifyReply, payload: unknown, answer: StoredAnswer) {
    onOutcome('claimLost', request)
    log.warn({ token: run.token }, 'idempotency: a claim was lost before its handler finished')
    const outcome = await lookAgain(run)
    // The key is free, or now belongs to another request: this run's own response is the correct one.
    if (outcome.state === 'claimed') await complete(run, outcome.claim, answer)
    if (outcome.state === 'claimed' || outcome.state === 'mismatch') return payload
    discard(reply, payload, answerFields)
    if (outcome.state !== 'done') throw inProgress(outcome.state === 'busy' ? outcome.leaseMilliseconds : 0)
    const winning = replay(reply, outcome.answer)
    settings.onReplay(request, reply)
    return winning ?? null
  }

  async function lookAgain({ claim, fingerprint }: Run) {
    const terms = { leaseMilliseconds, lifetimeMilliseconds: longestRunMilliseconds + leaseMilliseconds, takesOver: true }
    try {
      return await inTime(() => store.begin(claim.key, fingerprint, terms), storeTimeoutMilliseconds)
    } catch (err) {
      log.error({ err }, 'idempotency: the owner of a lost claim is unknown')
      return { state: 'abandoned' } as const
    }
  }
}

function lifetimeOf({ policy }: Run) {
  return policy.lifetimeSeconds * 1000
}

function leavesKeyFree({ isReleased, isInTransaction, policy }: Run, { statusCode }: FastifyReply) {
  return isReleased || isTransient(statusCode, isInTransaction ? 'release' : policy.serverErrors)
}
