import { strictEqual } from 'node:assert/strict'
import { hash, randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { callback, describeOptions, type OptionsOf } from '@concordat/plugin-kit/options'
import type { RequestTransaction } from '@concordat/plugin-kit/wiring'
import type { BeginOutcome, Claim, ClaimTerms, IdempotencyStore, StoredResponse } from '../../stored/store.ts'

/** The description of {@link StoreContractOptions}. */
export const storeContractOptions = describeOptions('idempotency', {
  /** Returns another connection to the same records, like that of another process. By default the same store. */
  createSecond: callback<(first: IdempotencyStore) => IdempotencyStore | Promise<IdempotencyStore>>('returns a store', {
    default: (first) => first
  }),
  /** Advances the time of the store. By default it waits. */
  pass: callback<(milliseconds: number) => unknown>('advances the time', { default: (milliseconds) => wait(milliseconds) }),
  /** Runs the work in a new transaction, which commits or rolls back as its result says. Required for a store that is `transactional`. */
  transact: callback<(work: (transaction: RequestTransaction) => Promise<'commit' | 'rollback'>) => Promise<unknown>>('runs a transaction')
})

/** Options of `idempotencyStoreContract`. */
export interface StoreContractOptions extends OptionsOf<typeof storeContractOptions> {}

/** The key of a test, and two connections to the store. */
export interface Scene {
  readonly key: string
  readonly store: IdempotencyStore
  readonly second: IdempotencyStore
  /** Calls `begin`, by default with the scene's key and fingerprint. */
  begin(input?: BeginInput): Promise<BeginOutcome>
  /** Calls `begin` and asserts the outcome `claimed`. */
  claim(input?: BeginInput): Promise<Claim>
  /** Claims the key and lets the lease expire. */
  lose(): Promise<Claim>
  pass(milliseconds: number): Promise<void>
  /** Returns a scene with the same stores and another key, and by default the same client and limit. */
  another(client?: ClientTerms): Scene
}

export interface BeginInput extends Partial<ClaimTerms> {
  readonly by?: IdempotencyStore | undefined
  readonly key?: string | undefined
  readonly fingerprint?: string | undefined
}

type ClientTerms = Partial<Pick<ClaimTerms, 'client' | 'maxClientBytes'>>

export const long = 60_000
const fingerprint = digestOf('a request')
const oneClient = { client: digestOf('a client'), maxClientBytes: Number.MAX_SAFE_INTEGER }
export const otherFingerprint: string = digestOf('another request')
export const response: StoredResponse = {
  status: 201,
  headers: { 'content-type': 'application/json; charset=utf-8', location: '/orders/1' },
  body: '{"id":1}'
}

/** Returns a value in the format of a key or fingerprint. */
export function digestOf(text: string): string {
  return hash('sha256', text, 'base64url')
}

/** Creates the scene of a test. */
export function sceneOf(
  store: IdempotencyStore,
  second: IdempotencyStore,
  pass: (milliseconds: number) => unknown,
  client: ClientTerms = {}
): Scene {
  const key = digestOf(randomUUID())
  const terms = { leaseMs: long, lifetimeMs: long, takesOver: true, ...oneClient, ...client }
  const scene: Scene = {
    key,
    store,
    second,
    begin: async ({ by = store, key: ownKey = key, fingerprint: own = fingerprint, ...other } = {}) =>
      by.begin(ownKey, own, { ...terms, ...other }),
    async claim(input) {
      const outcome = await scene.begin(input)
      strictEqual(outcome.state, 'claimed')
      return (outcome as { claim: Claim }).claim
    },
    async lose() {
      const claim = await scene.claim({ leaseMs: 20 })
      await scene.pass(40)
      return claim
    },
    async pass(milliseconds) {
      await pass(milliseconds)
    },
    another: (other) => sceneOf(store, second, pass, { ...client, ...other })
  }
  return scene
}

/** Calls `begin` and asserts this outcome. */
export async function expectState(scene: Scene, state: BeginOutcome['state'], input?: BeginInput): Promise<void> {
  strictEqual((await scene.begin(input)).state, state)
}

/** Calls `begin` and asserts the outcome `done` with this response. */
export async function expectResponse(scene: Scene, wanted: StoredResponse, input?: BeginInput): Promise<void> {
  const outcome = await scene.begin(input)
  strictEqual(outcome.state, 'done')
  const { status, headers, body } = (outcome as { response: StoredResponse }).response
  strictEqual(status, wanted.status)
  strictEqual(JSON.stringify(Object.entries(headers).sort()), JSON.stringify(Object.entries(wanted.headers).sort()))
  strictEqual(body === null, wanted.body === null)
  strictEqual(Buffer.from((body ?? '') as string).equals(Buffer.from((wanted.body ?? '') as string)), true, 'The body has other bytes.')
  if (typeof wanted.body !== 'string') strictEqual(typeof body === 'string', false, 'Bytes came back as text.')
}
