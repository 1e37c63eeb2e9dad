import { ok, strictEqual } from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import { answer, type Case, digestOf, expectAnswer, expectState, long } from './scene.ts'

const patience = 10_000

/** Hints, sweeping, the check at boot. A store that has none of these keeps them all. */
export const careCases: Readonly<Record<string, Case>> = {
  'the guarantees are said': async ({ store }) => {
    for (const name of ['durable', 'shared', 'transactional'] as const) strictEqual(typeof store.guarantees[name], 'boolean')
  },
  'who waits for a key is told when it is completed by another connection': async (scene) => {
    const claim = await scene.claim()
    const told = hear(scene.store, scene.key)
    await wait(50)
    await scene.second.complete(claim, answer, long)
    strictEqual(await told, 'in time')
    await expectAnswer(scene, answer)
  },
  'who waits for a key is told when it is released': async (scene) => {
    const claim = await scene.claim()
    const told = hear(scene.store, scene.key)
    await wait(50)
    await scene.second.release(claim)
    strictEqual(await told, 'in time')
    await expectState(scene, 'claimed')
  },
  'all that wait for a key are told': async (scene) => {
    const claim = await scene.claim()
    const told = Array.from({ length: 20 }, (_, n) => hear(n % 2 ? scene.second : scene.store, scene.key))
    await wait(50)
    await scene.store.complete(claim, answer, long)
    strictEqual((await Promise.all(told)).join(), Array(20).fill('in time').join())
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

async function hear(store: { changed?: (key: string, signal: AbortSignal) => Promise<void> }, key: string) {
  const end = new AbortController()
  const late = setTimeout(() => end.abort(), patience)
  await store.changed?.(key, end.signal)
  clearTimeout(late)
  return end.signal.aborted ? 'too late' : 'in time'
}
