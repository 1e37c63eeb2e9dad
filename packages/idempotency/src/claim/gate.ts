import type { RequestTransaction } from '@concordat/plugin-kit/wiring'
import { errors, inProgress, keyReused, storageExceeded } from '../errors.ts'
import { readKey } from '../key/idempotency-key.ts'
import type { Settings } from '../options.ts'
import type { Heartbeat } from '../run/heartbeat.ts'
import { Run } from '../run/run.ts'
import { never, runHandler } from '../run/run-handler.ts'
import type { Settlement } from '../run/settlement.ts'
import { decompressed } from '../stored/compression.ts'
import type { BeginOutcome, StoredResponse } from '../stored/store.ts'
import { statusField } from '../stored/stored-form.ts'
import { replay } from '../stored/stored-response.ts'
import { type ClaimInput, type ClaimKey, type ClaimOutcome } from './claim-key.ts'

interface GateInput extends ClaimInput {
  /** Runs the handler. */
  readonly handle: () => unknown
}

type Claimed = Extract<BeginOutcome, { state: 'claimed' }>

/** Decides whether to run the handler of a request, and returns the payload for Fastify to send. */
export type Gate = (input: GateInput) => unknown

const refusals = { busy: 'inProgress', exceeded: 'storageExceeded', mismatch: 'reused', abandoned: 'outcomeUnknown' } as const

interface GateTools {
  readonly claimKey: ClaimKey
  readonly settlement: Settlement
  readonly heartbeat: Heartbeat
}

/** Creates the gate: of all requests with the same key, only one runs, and the others get its response or an error. */
export function gateOf(settings: Settings, { claimKey, settlement, heartbeat }: GateTools): Gate {
  const { store, countOutcome } = settings

  return (input) => {
    const { request, reply, policy, handle } = input
    const key = readKey(request.raw)
    if (key === null) throw errors.create('IDEMPOTENCY_KEY_INVALID')
    if (key === undefined && policy.isRequired) throw errors.create('IDEMPOTENCY_KEY_REQUIRED')
    if (key === undefined) return runHandler(reply, handle)

    const transaction = settings.transaction(request)
    const outcome = claimKey(input, key, store.guarantees.transactional ? transaction : undefined)
    // An outcome that is known synchronously does not wait for a microtask.
    return outcome instanceof Promise
      ? outcome.then((late) => proceed(input, key, late, transaction))
      : proceed(input, key, outcome, transaction)
  }

  function proceed(input: GateInput, key: string, outcome: ClaimOutcome, transaction: RequestTransaction | undefined) {
    const { reply, handle } = input
    if (outcome.state === 'claimed') {
      const { progress } = outcome
      return progress === undefined ? run(input, key, outcome, transaction) : runAgain(input, key, outcome, progress, transaction)
    }
    if (outcome.state === 'done') return replayTo(input, decompressed(outcome.response))
    if (outcome.state !== 'bypassed') throw refuse(outcome)
    reply.header(statusField, 'bypassed')
    return runHandler(reply, handle)
  }

  function refuse(outcome: Exclude<BeginOutcome, { state: 'claimed' | 'done' }>) {
    const { state } = outcome
    countOutcome(refusals[state])
    if (state === 'busy') return inProgress(outcome.leaseMs)
    if (state === 'exceeded') return storageExceeded(outcome.retryMs)
    return state === 'mismatch' ? keyReused() : errors.create('IDEMPOTENCY_OUTCOME_UNKNOWN')
  }

  async function runAgain(input: GateInput, key: string, claimed: Claimed, stored: StoredResponse, transaction?: RequestTransaction) {
    const { body } = await decompressed(stored)
    return run(input, key, claimed, transaction, String(body))
  }

  function run(input: GateInput, key: string, { claim, clientBytes }: Claimed, transaction?: RequestTransaction, progress?: string) {
    const { request, reply, handle } = input
    const isInTransaction = transaction !== undefined && store.guarantees.transactional
    const isOverLimit = clientBytes >= (settings.maxBytesOf?.(request) ?? settings.maxClientBytes)
    const run = new Run(key, claim, input, { transaction, isInTransaction, isOverLimit })
    run.progress = progress
    request.idempotency = run
    if (isInTransaction) transaction.beforeCommit((_, payload) => settlement.inTransaction(run, reply, payload))
    else heartbeat.hold(run)
    return runHandler(reply, handle, {
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
