import { randomUUID } from 'node:crypto'
import { outageLog } from '@concordat/plugin-kit/outage-log'
import { contractOf, type RequestTransaction } from '@concordat/plugin-kit/wiring'
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify'
import { errors } from '../errors.ts'
import { clientOf, recordKey } from '../key/idempotency-key.ts'
import type { Settings } from '../options.ts'
import type { MissedCalls } from '../run/missed-calls.ts'
import type { RoutePolicy } from '../run/route-policy.ts'
import { callStore } from '../run/store-call.ts'
import type { BeginOutcome, ClaimTerms } from '../stored/store.ts'
import { waitingRoom } from './waiting-room.ts'

type RouteTerms = Omit<ClaimTerms, 'client' | 'claimId' | 'maxClientBytes'>

/** A request with a key. */
export interface ClaimInput {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly policy: RoutePolicy
  readonly terms: RouteTerms
  readonly fingerprint: string
}

/** What the store found for a key, or that the request runs without protection. */
export type ClaimOutcome = BeginOutcome | { readonly state: 'bypassed' }

/** Claims the key of a request, and waits for the request that has it, as long as the route allows. */
export type ClaimKey = (input: ClaimInput, key: string, transaction: RequestTransaction | undefined) => ClaimOutcome | Promise<ClaimOutcome>

/** Returns the terms on which the keys of a route are claimed. */
export function termsOf(policy: RoutePolicy, { leaseMs, maxRunMs }: Settings): RouteTerms {
  return {
    leaseMs,
    // The record must not expire while the request runs, however short the lifetime of its response is.
    lifetimeMs: Math.max(policy.lifetimeSeconds * 1000, maxRunMs + leaseMs),
    takesOver: policy.whenOutcomeUnknown === 'runAgain'
  }
}

const waits = {
  name: 'concordat.idempotency.wait.duration',
  unit: 's',
  description: 'Time that retries waited for the request in progress with their key, by what they found.'
}

/** Creates the function that claims keys. An outcome that the store knows synchronously is returned so, and does not wait for a microtask. */
export function keyClaimer(settings: Settings, missedCalls: MissedCalls, log: FastifyBaseLogger): ClaimKey {
  const { store, countOutcome } = settings
  const reportOutage = outageLog(log)
  const wait = waitingRoom(store)
  const process = randomUUID()
  let claims = 0

  return (input, ownKey, transaction) => {
    const scope = scopeOf(input.request, settings)
    const key = recordKey(scope, ownKey)
    // Responses that are stored without their data may take as much again.
    const maxClientBytes = 2 * (settings.maxBytesOf?.(input.request) ?? settings.maxClientBytes)
    const terms = { ...input.terms, client: clientOf(scope), maxClientBytes }
    return transaction === undefined ? claimByLease(input, key, terms) : claimInTransaction(input, key, terms, transaction)
  }

  function claimInTransaction(input: ClaimInput, key: string, own: ClaimTerms, transaction: RequestTransaction) {
    // The signal prevents a late claim. The transaction ends any other.
    const timeout = new AbortController()
    const terms = { ...own, transaction, signal: timeout.signal }
    const onTimeout = () => timeout.abort()
    const begin = () => callStore(() => store.begin(key, input.fingerprint, terms), settings.storeTimeoutMs, { onTimeout })
    return waitFor(input, key, begin(), begin)
  }

  function claimByLease(input: ClaimInput, key: string, own: ClaimTerms): ClaimOutcome | Promise<ClaimOutcome> {
    const claimId = store.withdraw && `${process}-${(claims += 1)}`
    const terms = { ...own, claimId }
    const begin = () => {
      const begun = callStore(() => store.begin(key, input.fingerprint, terms), settings.storeTimeoutMs, { onLateResult: giveBack })
      // The store may have made the claim.
      if (claimId !== undefined && begun instanceof Promise)
        begun.catch(() => missedCalls.add(() => store.withdraw?.({ key, client: own.client, claimId })))
      return begun
    }
    const begun = begin()
    return begun instanceof Promise || begun.state === 'busy' ? waitFor(input, key, begun, begin) : begun
  }

  async function waitFor(
    { request, reply, policy }: ClaimInput,
    key: string,
    begun: BeginOutcome | Promise<BeginOutcome>,
    begin: () => BeginOutcome | Promise<BeginOutcome>
  ): Promise<ClaimOutcome> {
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
}

function scopeOf(request: FastifyRequest, { scope: scopeOption, clientHeader }: Settings): string {
  const scope = scopeOption?.(request)
  if (typeof scope === 'string' && scope !== '') return scope
  const route = `${request.method} ${String(request.routeOptions.url)}`
  if (scope) throw new TypeError(`idempotency: options.scope must return a string for ${route}, but its result is of type ${typeof scope}.`)
  request.log.info(
    `idempotency: options.scope returned no client for ${route}. Accept only authenticated clients there, or return a scope for anonymous requests.`
  )
  throw errors.create('CLIENT_NOT_IDENTIFIED', { params: { header: clientHeader } })
}
