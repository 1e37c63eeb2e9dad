import { ok, strictEqual } from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import type { Claim } from '../store.ts'
import { answer, type Case, digestOf, expectAnswer, long, type Scene } from './scene.ts'

/** Hints, sweeping, the check at boot. A store that has none of these keeps them all. */
export const careCases: Readonly<Record<string, Case>> = {
  'the guarantees are said': async ({ store }) => {
    for (const name of ['durable', 'shared', 'transactional'] as const) strictEqual(typeof store.guarantees[name], 'boolean')
  },
  'who waits for a key is told when it is completed by another connection': async (scene) => {
    await heard(scene, async (claim) => void (await scene.second.complete(claim, answer, 1)))
  },
  'who waits for a key is told when it is released by another connection': async (scene) => {
    await heard(scene, async (claim) => void (await scene.second.release(claim)))
  },
  'who no longer wants to wait does not': async (scene) => {
    await scene.claim()
    const end = new AbortController()
    const over = scene.store.changed?.(scene.key, end.signal)
    end.abort()
    strictEqual(await over, undefined)
    strictEqual(await scene.store.changed?.(scene.key, AbortSignal.abort()), undefined)
  },
  'sweeping deletes what is over and nothing else, at most as many as told': async (scene) => {
    const { store } = scene
    const terms = { leaseMilliseconds: 10, lifetimeMilliseconds: 20, takesOver: true }
    for (let n = 0; n < 5; n += 1) await store.begin(digestOf(`${scene.key} ${n}`), scene.key, terms)
    await store.complete(await scene.claim(), answer, long)
    await scene.pass(50)
    const swept = await store.sweep?.(3)
    ok(swept === undefined || swept <= 3)
    while ((await store.sweep?.(100)) === 100);
    await expectAnswer(scene, answer)
    for (let n = 0; n < 5; n += 1) {
      const outcome = await store.begin(digestOf(`${scene.key} ${n}`), scene.key, terms)
      ok(outcome.state === 'claimed' && outcome.claim.attempt === 1)
    }
  },
  'sweeping leaves claims whose lease is over': async (scene) => {
    await scene.lose()
    await scene.store.sweep?.(100)
    strictEqual((await scene.claim()).attempt, 2)
  },
  'the check answers lines for people': async ({ store }) => {
    for (const line of (await store.check?.()) ?? []) ok(typeof line === 'string' && line.length > 10)
  }
}

// A hint may be missed, as while the connection for it is made; not every one.
async function heard(scene: Scene, end: (claim: Claim) => Promise<void>, rounds = 20): Promise<void> {
  const { store, second, key } = scene
  const claim = await scene.claim()
  const late = AbortSignal.timeout(1000)
  const all = Promise.all(Array.from({ length: 20 }, async (_, n) => (n % 2 ? second : store).changed?.(key, late)))
  await wait(20)
  await end(claim)
  await all
  await scene.pass(2)
  return late.aborted && rounds > 0 ? heard(scene, end, rounds - 1) : strictEqual(late.aborted, false, 'Nobody heard of it.')
}
