import { randomUUID } from 'node:crypto'
import { outageLog } from '@concordat/plugin-kit/outage-log'
import { contractOf, type RequestTransaction } from '@concordat/plugin-kit/wiring'
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify'
import { carryOut, never } from './carry-out.ts'
import { decompressed } from './compression.ts'
import { errors, inProgress, keyReused, storageExceeded } from './errors.ts'
import type { Heartbeat } from './heartbeat.ts'
import { clientOf, readKey, recordKey } from './idempotency-key.ts'
import type { MissedCalls } from './missed-calls.ts'
import type { Settings } from './options.ts'
import type { RoutePolicy } from './route-policy.ts'
import { Run } from './run.ts'
import type { Settlement } from './settlement.ts'
import type { BeginOutcome, ClaimTerms, StoredResponse } from './store.ts'
import { callStore } from './store-call.ts'
import { statusField } from './stored-form.ts'
import { replay } from './stored-response.ts'
import { waitingRoom } from './waiting-room.ts'

interface GateInput {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly policy: RoutePolicy
  readonly terms: RouteTerms
  readonly fingerprint: string
  /** Runs the handler. */
  readonly handle: () => unknown
}

type RouteTerms = Omit<ClaimTerms, 'client' | 'claimId'>

/** Returns the terms on which the keys of a route are claimed. */
export function termsOf(policy: RoutePolicy, { leaseMs, maxRunMs, maxClientBytes }: Settings): RouteTerms {
  return {
    leaseMs,
    // The record must not expire while the request runs, however short the lifetime of its response is.
    lifetimeMs: Math.max(policy.lifetimeSeconds * 1000, maxRunMs + leaseMs),
    takesOver: policy.whenOutcomeUnknown === 'runAgain',
    // Responses that are stored without their data may take as much again.
    maxClientBytes: 2 * maxClientBytes
  }
}

type Claimed = Extract<BeginOutcome, { state: 'claimed' }>
type LookupResult = BeginOutcome | { readonly state: 'bypassed' }

/** Decides whether to run the handler of a request, and returns the payload for Fastify to send. */
export type Gate = (input: GateInput) => unknown

const refusals = { busy: 'inProgress', exceeded: 'storageExceeded', mismatch: 'reused', abandoned: 'outcomeUnknown' } as const

const waits = {
  name: 'concordat.idempotency.wait.duration',
  unit: 's',
  description: 'Time that retries waited for the request in progress with their key, by what they found.'
}

interface GateTools {
  readonly settlement: Settlement
  readonly heartbeat: Heartbeat
  readonly missedCalls: MissedCalls
}

/** Creates the gate: of all requests with the same key, only one runs, and the others get its response or an error. */
export function gateOf(settings: Settings, { settlement, heartbeat, missedCalls }: GateTools, log: FastifyBaseLogger): Gate {
  const { store, countOutcome } = settings
  const reportOutage = outageLog(log)
  const wait = waitingRoom(store)
  const process = randomUUID()
  let claims = 0
  const nextClaimId = () => `${process}-${(claims += 1)}`

  return (input) => {
    const { request, reply, policy, handle } = input
    const key = readKey(request.raw)
    if (key === null) throw errors.create('IDEMPOTENCY_KEY_INVALID')
    if (key === undefined && policy.isRequired) throw errors.create('IDEMPOTENCY_KEY_REQUIRED')
    if (key === undefined) return carryOut(reply, handle)

    const transaction = settings.transaction(request)
    const outcome = lookUp(input, scopeOf(request), key, store.guarantees.transactional ? transaction : undefined)
    // An outcome that is known synchronously does not wait for a microtask.
    return outcome instanceof Promise
      ? outcome.then((late) => proceed(input, key, late, transaction))
      : proceed(input, key, outcome, transaction)
  }

  function proceed(input: GateInput, key: string, outcome: LookupResult, transaction: RequestTransaction | undefined) {
    const { reply, handle } = input
    if (outcome.state === 'claimed') {
      const { progress } = outcome
      return progress === undefined ? run(input, key, outcome, transaction) : runAgain(input, key, outcome, progress, transaction)
    }
    if (outcome.state === 'done') return replayTo(input, decompressed(outcome.response))
    if (outcome.state !== 'bypassed') throw refuse(outcome)
    reply.header(statusField, 'bypassed')
    return carryOut(reply, handle)
  }

  function refuse(outcome: Exclude<BeginOutcome, { state: 'claimed' | 'done' }>) {
    const { state } = outcome
    countOutcome(refusals[state])
    if (state === 'busy') return inProgress(outcome.leaseMs)
    if (state === 'exceeded') return storageExceeded(outcome.retryMs)
    return state === 'mismatch' ? keyReused() : errors.create('IDEMPOTENCY_OUTCOME_UNKNOWN')
  }

  function scopeOf(request: FastifyRequest): string {
    const scope = settings.scope?.(request)
    if (typeof scope === 'string' && scope !== '') return scope
    const route = `${request.method} ${String(request.routeOptions.url)}`
    if (scope)
      throw new TypeError(`idempotency: options.scope must return a string for ${route}, but its result is of type ${typeof scope}.`)
    request.log.info(
      `idempotency: options.scope returned no client for ${route}. Accept only authenticated clients there, or return a scope for anonymous requests.`
    )
    throw errors.create('CLIENT_NOT_IDENTIFIED', { params: { header: settings.clientHeader } })
  }

  function lookUp(input: GateInput, scope: string, ownKey: string, transaction?: RequestTransaction): LookupResult | Promise<LookupResult> {
    const { fingerprint } = input
    const key = recordKey(scope, ownKey)
    const client = clientOf(scope)
    if (transaction === undefined) return lookUpByLease(input, key, client)
    // The signal prevents a late claim. The transaction ends any other.
    const timeout = new AbortController()
    const terms = { ...input.terms, client, transaction, signal: timeout.signal }
    const onTimeout = () => timeout.abort()
    const begin = () => callStore(() => store.begin(key, fingerprint, terms), settings.storeTimeoutMs, { onTimeout })
    return waitFor(input, key, begin(), begin)
  }

  function lookUpByLease(input: GateInput, key: string, client: string): LookupResult | Promise<LookupResult> {
    const claimId = store.withdraw && nextClaimId()
    const terms = { ...input.terms, client, claimId }
    const begin = () => {
      const begun = callStore(() => store.begin(key, input.fingerprint, terms), settings.storeTimeoutMs, { onLateResult: giveBack })
      // The store may have made the claim.
      if (claimId !== undefined && begun instanceof Promise)
        begun.catch(() => missedCalls.add(() => store.withdraw?.({ key, client, claimId })))
      return begun
    }
    const begun = begin()
    return begun instanceof Promise || begun.state === 'busy' ? waitFor(input, key, begun, begin) : begun
  }

  async function waitFor(
    { request, reply, policy }: GateInput,
    key: string,
    begun: BeginOutcome | Promise<BeginOutcome>,
    begin: () => BeginOutcome | Promise<BeginOutcome>
  ): Promise<LookupResult> {
    let outcome: BeginOutcome | undefined
    let endWait: (() => void) | undefined
    try {
      outcome = await begun
      if (outcome.state !== 'busy' || policy.waitSeconds === 0) return outcome
      endWait = contractOf(request.server, 'awaitingAnother')?.(request)
      const since = performance.now()
      outcome = (await wait(key, policy.waitSeconds * 1000, reply, begin)) ?? outcome
      contractOf(request.server, 'observer')?.record(waits, (performance.now() - since) / 1000, { outcome: outcome.state })
      return outcome
    } catch (err) {
      // A request that is known to run elsewhere must not run a second time.
      if (policy.bypassesFailedStore && outcome === undefined) return bypass(err)
      countOutcome('storeUnavailable')
      throw errors.create('IDEMPOTENCY_STORE_UNAVAILABLE', { headers: { 'retry-after': '2' }, cause: err })
    } finally {
      endWait?.()
    }
  }

  function bypass(err: unknown) {
    countOutcome('bypassed')
    reportOutage(err, 'idempotency: the store failed, and a request runs without protection')
    return { state: 'bypassed' } as const
  }

  // The request that asked for this claim has already failed.
  function giveBack(outcome: BeginOutcome) {
    if (outcome.state !== 'claimed') return
    store.release(outcome.claim).catch(() => missedCalls.add(() => store.release(outcome.claim)))
  }

  async function runAgain(input: GateInput, key: string, claimed: Claimed, stored: StoredResponse, transaction?: RequestTransaction) {
    const { body } = await decompressed(stored)
    return run(input, key, claimed, transaction, String(body))
  }

  function run(input: GateInput, key: string, { claim, clientBytes }: Claimed, transaction?: RequestTransaction, progress?: string) {
    const { request, reply, handle } = input
    const isInTransaction = transaction !== undefined && store.guarantees.transactional
    const isOverLimit = clientBytes >= settings.maxClientBytes
    const run = new Run(key, claim, input, { transaction, isInTransaction, isOverLimit })
    run.progress = progress
    request.idempotency = run
    if (isInTransaction) transaction.beforeCommit((_, payload) => settlement.inTransaction(run, reply, payload))
    else heartbeat.hold(run)
    return carryOut(reply, handle, {
      ended: () => run.end(),
      isSettled: () => run.isSettled,
      responseMissing: () => settlement.responseMissing(run, reply),
      sendsItself: () => settlement.sendsItself(run, reply)
    })
  }

  function replayTo(input: GateInput, response: StoredResponse | Promise<StoredResponse>): unknown {
    if (response instanceof Promise) return response.then((late) => replayTo(input, late))
    const { reply } = input
    countOutcome(response.body === null ? 'responseUnavailable' : 'replayed')
    const payload = replay(reply, response)
    if (payload !== undefined) return payload
    reply.send(undefined)
    return never()
  }
}
