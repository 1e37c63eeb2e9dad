import { ok, strictEqual } from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import type { ContractCases } from '@concordat/plugin-kit/testing'
import type { Claim } from '../../stored/store.ts'
import { digestOf, expectResponse, long, response, type Scene } from './scene.ts'

/** Cases about change notifications, sweeping and the check at boot. A store without these methods passes all of them. */
export const careCases: ContractCases<Scene> = {
  'the store declares its guarantees': async ({ store }) => {
    for (const name of ['shared', 'transactional'] as const) strictEqual(typeof store.guarantees[name], 'boolean')
  },
  'waiting for a key ends when another connection completes it': async (scene) => {
    await requireNotice(scene, async (claim) => void (await scene.second.complete(claim, response, 1)))
  },
  'waiting for a key ends when another connection releases it': async (scene) => {
    await requireNotice(scene, async (claim) => void (await scene.second.release(claim)))
  },
  'waiting for a key ends when its signal aborts': async (scene) => {
    await scene.claim()
    const end = new AbortController()
    const over = scene.store.changed?.(scene.key, end.signal)
    end.abort()
    strictEqual(await over, undefined)
    strictEqual(await scene.store.changed?.(scene.key, AbortSignal.abort()), undefined)
  },
  'sweeping deletes only expired records, at most the given number': async (scene) => {
    const { store } = scene
    const short = (n: number) => scene.begin({ key: digestOf(`${scene.key} ${n}`), leaseMs: 10, lifetimeMs: 20 })
    for (let n = 0; n < 5; n += 1) await short(n)
    await store.complete(await scene.claim(), response, long)
    await scene.pass(50)
    const swept = await store.sweep?.(3)
    ok(swept === undefined || swept <= 3)
    while ((await store.sweep?.(100)) === 100);
    await expectResponse(scene, response)
    for (let n = 0; n < 5; n += 1) {
      const outcome = await short(n)
      ok(outcome.state === 'claimed' && outcome.claim.attempt === 1)
    }
  },
  'sweeping does not delete claims whose lease has expired': async (scene) => {
    await scene.lose()
    await scene.store.sweep?.(100)
    strictEqual((await scene.claim()).attempt, 2)
  },
  'the check returns readable lines': async ({ store }) => {
    for (const line of (await store.check?.()) ?? []) ok(typeof line === 'string' && line.length > 10)
  }
}

// A store may miss a hint, for example while its connection is being opened, but must not miss every hint.
async function requireNotice(scene: Scene, end: (claim: Claim) => Promise<void>, rounds = 20): Promise<void> {
  const { store, second, key } = scene
  const claim = await scene.claim()
  const late = AbortSignal.timeout(1000)
  const all = Promise.all(Array.from({ length: 20 }, async (_, n) => (n % 2 ? second : store).changed?.(key, late)))
  // oxlint-disable-next-line suite/no-fixed-wait -- No method of a store says that its callers wait.
  await wait(20)
  await end(claim)
  await all
  await scene.pass(2)
  return late.aborted && rounds > 0
    ? requireNotice(scene, end, rounds - 1)
    : strictEqual(late.aborted, false, 'No waiting caller got a hint.')
}
