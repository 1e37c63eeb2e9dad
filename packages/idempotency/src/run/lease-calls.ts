import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyBaseLogger, FastifyReply } from 'fastify'
import { inProgress } from '../errors.ts'
import type { Settings } from '../options.ts'
import { compressed, decompressed } from '../stored/compression.ts'
import type { Claim, StoredResponse } from '../stored/store.ts'
import { discard, replay } from '../stored/stored-response.ts'
import type { Heartbeat } from './heartbeat.ts'
import type { MissedCalls } from './missed-calls.ts'
import { lifetimeOf, type Run } from './run.ts'
import { callStore } from './store-call.ts'

const firstPauseMs = 20

/** Creates the functions that tell the store how a run outside a transaction has ended. What the store misses is repeated until it responds. */
export function leaseCalls(settings: Settings, heartbeat: Heartbeat, missedCalls: MissedCalls, log: FastifyBaseLogger) {
  const { store, countOutcome, responseFields, leaseMs, maxRunMs, storeTimeoutMs } = settings

  return { keep, complete, release, giveWay }

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

  /** Stores a response once. */
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

  /** Returns the response of the owner that took over the claim, or the own one if that owner has none. */
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
