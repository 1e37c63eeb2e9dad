import { strictEqual } from 'node:assert/strict'
import { hash, randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { BeginOutcome, Claim, ClaimTerms, IdempotencyStore, RequestTransaction, StoredAnswer } from '../store.ts'

/** A function that registers a test with the caller's test runner. */
export type RunTest = (title: string, run: () => Promise<void>) => unknown

/** Options of `idempotencyStoreContract`. */
export interface StoreContractOptions {
  /** Returns another connection to the same records, like that of another process. @default the same store */
  readonly createSecond?: ((first: IdempotencyStore) => IdempotencyStore | Promise<IdempotencyStore>) | undefined
  /** Advances the time of the store. @default waits */
  readonly pass?: ((milliseconds: number) => unknown) | undefined
  /** Runs the work in its own transaction and ends it as the work returns. Required for a store that is `transactional`. */
  readonly transact?: ((work: (transaction: RequestTransaction) => Promise<'commit' | 'rollback'>) => Promise<unknown>) | undefined
}

/** The key of a test, and two connections to the store. */
export interface Scene {
  readonly key: string
  readonly store: IdempotencyStore
  readonly second: IdempotencyStore
  /** Calls `begin`, by default with the scene's key and fingerprint. */
  begin(wish?: BeginWish): Promise<BeginOutcome>
  /** Calls `begin` and asserts the outcome `claimed`. */
  claim(wish?: BeginWish): Promise<Claim>
  /** Claims the key and lets the lease expire. */
  lose(): Promise<Claim>
  pass(milliseconds: number): Promise<void>
  /** Returns a scene with the same stores and another key. */
  another(): Scene
}

export interface BeginWish extends Partial<ClaimTerms> {
  readonly by?: IdempotencyStore
  readonly fingerprint?: string
}

export type Case = (scene: Scene) => Promise<void>

export const long = 60_000
const fingerprint = digestOf('a request')
export const otherFingerprint: string = digestOf('another request')
export const answer: StoredAnswer = {
  status: 201,
  headers: { 'content-type': 'application/json; charset=utf-8', location: '/orders/1' },
  body: '{"id":1}'
}

/** Returns a value in the format of a key or fingerprint. */
export function digestOf(text: string): string {
  return hash('sha256', text, 'base64url')
}

/** Creates the scene of a test. */
export function sceneOf(store: IdempotencyStore, second: IdempotencyStore, pass: StoreContractOptions['pass'] = wait): Scene {
  const key = digestOf(randomUUID())
  const scene: Scene = {
    key,
    store,
    second,
    begin: async ({ by = store, fingerprint: own = fingerprint, ...terms } = {}) =>
      by.begin(key, own, { leaseMilliseconds: long, lifetimeMilliseconds: long, takesOver: true, ...terms }),
    async claim(wish) {
      const outcome = await scene.begin(wish)
      strictEqual(outcome.state, 'claimed')
      return (outcome as { claim: Claim }).claim
    },
    async lose() {
      const claim = await scene.claim({ leaseMilliseconds: 20 })
      await scene.pass(40)
      return claim
    },
    async pass(milliseconds) {
      await pass(milliseconds)
    },
    another: () => sceneOf(store, second, pass)
  }
  return scene
}

/** Calls `begin` and asserts this outcome. */
export async function expectState(scene: Scene, state: BeginOutcome['state'], wish?: BeginWish): Promise<void> {
  strictEqual((await scene.begin(wish)).state, state)
}

/** Calls `begin` and asserts the outcome `done` with this response. */
export async function expectAnswer(scene: Scene, wanted: StoredAnswer, wish?: BeginWish): Promise<void> {
  const outcome = await scene.begin(wish)
  strictEqual(outcome.state, 'done')
  const { status, headers, body } = (outcome as { answer: StoredAnswer }).answer
  strictEqual(status, wanted.status)
  strictEqual(JSON.stringify(Object.entries(headers).sort()), JSON.stringify(Object.entries(wanted.headers).sort()))
  strictEqual(body === null, wanted.body === null)
  strictEqual(Buffer.from((body ?? '') as string).equals(Buffer.from((wanted.body ?? '') as string)), true, 'The body has other bytes.')
  if (typeof wanted.body !== 'string') strictEqual(typeof body === 'string', false, 'Bytes came back as text.')
}
