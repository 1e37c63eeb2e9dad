import { strictEqual } from 'node:assert/strict'
import { hash, randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { BeginOutcome, Claim, ClaimTerms, IdempotencyStore, RequestTransaction, StoredAnswer } from '../store.ts'

/** A test of the caller's runner. */
export type RunTest = (title: string, run: () => Promise<void>) => unknown

/** What a store can be tested with, beside itself. */
export interface StoreContractOptions {
  /** Another connection to the same records, as another process has it. @default the same store */
  readonly createSecond?: ((first: IdempotencyStore) => IdempotencyStore | Promise<IdempotencyStore>) | undefined
  /** Lets so much time pass for the store. @default waits */
  readonly pass?: ((milliseconds: number) => unknown) | undefined
  /** Runs the work in a transaction of its own, and ends it as the work says. Needed of a store that is `transactional`. */
  readonly transact?: ((work: (transaction: RequestTransaction) => Promise<'commit' | 'rollback'>) => Promise<unknown>) | undefined
}

/** One key of a test, and two ways to the store. */
export interface Scene {
  readonly key: string
  readonly store: IdempotencyStore
  readonly second: IdempotencyStore
  /** Begins with the scene's key and fingerprint, unless told otherwise. */
  begin(wish?: BeginWish): Promise<BeginOutcome>
  /** Begins, and must be told `claimed`. */
  claim(wish?: BeginWish): Promise<Claim>
  /** Claims, and lets the lease end. */
  lose(): Promise<Claim>
  pass(milliseconds: number): Promise<void>
  /** The same stores, and another key. */
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

/** What a key or fingerprint looks like. */
export function digestOf(text: string): string {
  return hash('sha256', text, 'base64url')
}

/** Makes the scene of one test. */
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

/** Begins, and must be told this. */
export async function expectState(scene: Scene, state: BeginOutcome['state'], wish?: BeginWish): Promise<void> {
  strictEqual((await scene.begin(wish)).state, state)
}

/** Begins, and must be told `done` with this answer. */
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
