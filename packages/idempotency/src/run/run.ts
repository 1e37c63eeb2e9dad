import { hash } from 'node:crypto'
import type { RequestTransaction } from '@concordat/plugin-kit/wiring'
import type { FastifyRequest } from 'fastify'
import { secretsOf } from '../stored/secret-members.ts'
import type { Claim } from '../stored/store.ts'
import { bodyForm } from '../stored/stored-form.ts'
import type { RoutePolicy } from './route-policy.ts'

/** The key of a request and its claim, for the handler: `request.idempotency`. */
export interface RequestIdempotency {
  /** The key as the client sent it, without quotes. */
  readonly key: string
  /** The number of the attempt: more than 1 when an earlier process was lost while it ran the request, which may have partly taken effect. */
  readonly attempt: number
  /** The fencing token: it increases with each owner of the key, so a database can refuse the writes of an owner that was presumed lost. */
  readonly token: number
  /** Aborts when the claim is lost or can no longer be renewed: from then on another owner may run the request. */
  readonly signal: AbortSignal
  /** Returns a key for a call to another service: 43 characters, the same for every attempt. Use a separate label for each call. */
  derivedKey(label: string): string
  /**
   * Work that is done in part. While it is set, this text is stored instead of the response, and a retry runs the handler again, which finds it here.
   * It is limited by `maxStoredBytes`.
   */
  progress: string | undefined
  /** The body that is stored instead of the one that is sent, for a response that contains other responses. Its replay is marked as incomplete. */
  storedBody: string | undefined
  /** Returns the form in which the JSON of another response, to `request`, is stored with this key. `''` if nothing of it can be stored. */
  storedForm(body: string, request: FastifyRequest, status: number): string
  /** Releases the key: the response is sent but not stored, and a retry runs the handler again. For requests that had no effect at all. */
  release(): void
}

/** The run of a handler under a claim. */
export class Run implements RequestIdempotency {
  readonly key: string
  readonly claim: Claim
  readonly fingerprint: string
  readonly policy: RoutePolicy
  progress: string | undefined
  storedBody: string | undefined
  isReleased = false
  /** Whether the response of this run has been handled; anything sent later does not belong to this run. */
  isSettled = false
  /** Whether the claim was lost, so that another owner may have the key. */
  isLost = false
  readonly transaction: RequestTransaction | undefined
  /** Whether the claim is a part of the transaction. */
  readonly isInTransaction: boolean
  /** Whether the stored responses of the client had reached `maxClientBytes` when the key was claimed. */
  readonly isOverLimit: boolean
  /** The index of this run in the heartbeat's list of runs, or -1 if it is not in the list. */
  place = -1
  #abortion: AbortController | undefined
  /** Whether the handler may continue after its timeout. */
  isRunning = true
  #ended: PromiseWithResolvers<void> | undefined

  constructor(
    key: string,
    claim: Claim,
    { fingerprint, policy }: Pick<Run, 'fingerprint' | 'policy'>,
    { transaction, isInTransaction, isOverLimit }: Pick<Run, 'transaction' | 'isInTransaction' | 'isOverLimit'>
  ) {
    this.key = key
    this.claim = claim
    this.fingerprint = fingerprint
    this.policy = policy
    this.transaction = transaction
    this.isInTransaction = isInTransaction
    this.isOverLimit = isOverLimit
  }

  end(): void {
    this.isRunning = false
    this.#ended?.resolve()
  }

  /** Resolves when a handler that is running has ended. */
  whenEnded(): Promise<void> {
    this.#ended ??= Promise.withResolvers<void>()
    return this.#ended.promise
  }

  get attempt(): number {
    return this.claim.attempt
  }

  get token(): number {
    return this.claim.token
  }

  get signal(): AbortSignal {
    this.#abortion ??= new AbortController()
    return this.#abortion.signal
  }

  derivedKey(label: string): string {
    return hash('sha256', `${this.claim.key} ${label}`, 'base64url')
  }

  storedForm(body: string, { routeOptions, server }: FastifyRequest, status: number): string {
    const terms = { secrets: secretsOf(routeOptions, server), isOverLimit: this.isOverLimit }
    return String(bodyForm(body, status, { 'content-type': 'application/json' }, terms))
  }

  release(): void {
    this.isReleased = true
  }

  /** Aborts the signal: the claim is lost or can no longer be renewed. */
  abort(): void {
    // A handler that reads the signal later gets an aborted one.
    this.#abortion ??= new AbortController()
    this.#abortion.abort(new Error('idempotency: the claim of this request was lost, so a retry may be running at the same time.'))
  }
}

/** Returns how long the response of a run is stored, in milliseconds. */
export function lifetimeOf({ policy }: Run): number {
  return policy.lifetimeSeconds * 1000
}
