import { ok, strictEqual } from 'node:assert/strict'
import type { BeginOutcome, Claim } from '../store.ts'
import { answer, type Case, digestOf, expectAnswer, expectState, long, otherFingerprint, type Scene } from './scene.ts'

/** Who owns a key: claims, leases and tokens. */
export const claimCases: Readonly<Record<string, Case>> = {
  'a new key is claimed, at the first attempt': async (scene) => {
    const { key, attempt, token } = await scene.claim()
    strictEqual(key, scene.key)
    strictEqual(attempt, 1)
    ok(Number.isSafeInteger(token) && token > 0)
  },
  'a claimed key is busy, for no longer than its lease': async (scene) => {
    await scene.claim()
    const outcome = await scene.begin()
    ok(outcome.state === 'busy' && outcome.leaseMilliseconds >= 0 && outcome.leaseMilliseconds <= long)
  },
  'a key that one connection claimed is busy on another': async (scene) => {
    await scene.claim()
    await expectState(scene, 'busy', { by: scene.second })
  },
  'what is left of the lease grows less': async (scene) => {
    await scene.claim()
    await scene.pass(30)
    const outcome = await scene.begin()
    ok(outcome.state === 'busy' && outcome.leaseMilliseconds <= long - 20)
  },
  'one key says nothing about another': async (scene) => {
    await scene.claim()
    const other = await scene.store.begin(`${scene.key.slice(0, -1)}${scene.key.endsWith('A') ? 'E' : 'A'}`, otherFingerprint, {
      leaseMilliseconds: long,
      lifetimeMilliseconds: long,
      takesOver: true
    })
    strictEqual(other.state, 'claimed')
    await expectState(scene, 'busy')
  },
  'of many at once on two connections, exactly one claims and the others find it busy': async (scene) => {
    strictEqual(await statesOf(scene, 50), `${'busy '.repeat(49)}claimed`)
  },
  'of many requests that differ, one claims and the others mismatch': async (scene) => {
    strictEqual(await statesOf(scene, 20, (n) => digestOf(`request ${n}`)), `claimed${' mismatch'.repeat(19)}`)
  },
  'another request with the key mismatches while the first runs': async (scene) => {
    await scene.claim()
    await expectState(scene, 'mismatch', { fingerprint: otherFingerprint })
  },
  'another request with the key mismatches when the first is done': async (scene) => {
    await scene.store.complete(await scene.claim(), answer, long)
    await expectState(scene, 'mismatch', { fingerprint: otherFingerprint, by: scene.second })
  },
  'another request with the key mismatches when the owner is gone, and does not take over': async (scene) => {
    await scene.lose()
    await expectState(scene, 'mismatch', { fingerprint: otherFingerprint })
    strictEqual((await scene.claim()).attempt, 2)
  },
  'another request with the key mismatches when the owner is gone and nobody may take over': async (scene) => {
    await scene.lose()
    await expectState(scene, 'mismatch', { fingerprint: otherFingerprint, takesOver: false })
  },
  'a mismatch leaves the record as it was, while the first runs and when it is done': async (scene) => {
    const claim = await scene.claim()
    await expectState(scene, 'mismatch', { fingerprint: otherFingerprint })
    strictEqual(await scene.store.complete(claim, answer, long), 'stored')
    await expectState(scene, 'mismatch', { fingerprint: otherFingerprint })
    await expectAnswer(scene, answer)
  },
  'to find a key busy does not prolong its lease': async (scene) => {
    await scene.claim({ leaseMilliseconds: 60 })
    await scene.begin({ takesOver: false })
    await scene.pass(40)
    await scene.begin({ takesOver: false })
    await scene.pass(40)
    strictEqual((await scene.claim()).attempt, 2)
  },
  'when the lease is over, the next takes over: the second attempt, with a higher token': async (scene) => {
    const first = await scene.lose()
    const second = await scene.claim({ by: scene.second })
    strictEqual(second.attempt, 2)
    ok(second.token > first.token)
    await expectState(scene, 'busy')
  },
  'of many at once, exactly one takes over': async (scene) => {
    await scene.lose()
    strictEqual(await statesOf(scene, 50), `${'busy '.repeat(49)}claimed`)
  },
  'each owner that is gone counts one attempt, and each token is higher': async (scene) => {
    const claims: Claim[] = []
    for (let round = 0; round < 4; round += 1) claims.push(await scene.lose())
    strictEqual(claims.map(({ attempt }) => attempt).join(), '1,2,3,4')
    for (let n = 1; n < 4; n += 1) ok((claims[n]?.token ?? 0) > (claims[n - 1]?.token ?? 0))
  },
  'where nobody may take over, a key whose owner is gone is abandoned': async (scene) => {
    await scene.lose()
    await expectState(scene, 'abandoned', { takesOver: false })
    await expectState(scene, 'abandoned', { takesOver: false, by: scene.second })
  },
  'to find a key abandoned leaves it as it was': async (scene) => {
    const claim = await scene.lose()
    await expectState(scene, 'abandoned', { takesOver: false })
    strictEqual(await scene.store.complete(claim, answer, long), 'stored')
    await expectAnswer(scene, answer, { takesOver: false })
  },
  'where nobody may take over, a key is busy until its lease is over': async (scene) => {
    await scene.claim()
    await expectState(scene, 'busy', { takesOver: false })
  },
  'a renewed claim outlasts its lease': async (scene) => {
    const claim = await scene.claim({ leaseMilliseconds: 30 })
    strictEqual(await scene.store.renew(claim, long), true)
    await scene.pass(60)
    await expectState(scene, 'busy')
  },
  'a lease is renewed from now on, for a shorter time too': async (scene) => {
    const claim = await scene.claim()
    strictEqual(await scene.store.renew(claim, 20), true)
    await scene.pass(40)
    strictEqual((await scene.claim()).attempt, 2)
  },
  'a claim can be renewed by another connection': async (scene) => {
    const claim = await scene.claim({ leaseMilliseconds: 30 })
    strictEqual(await scene.second.renew(claim, long), true)
    await scene.pass(60)
    await expectState(scene, 'busy')
  },
  'an owner that is late keeps its claim while nobody took over': async (scene) => {
    const claim = await scene.lose()
    strictEqual(await scene.store.renew(claim, long), true)
    await expectState(scene, 'busy')
    strictEqual(await scene.store.complete(claim, answer, long), 'stored')
  },
  'an owner that lost its claim can not renew it, and the lease of the next one stays': async (scene) => {
    const first = await scene.lose()
    await scene.claim({ leaseMilliseconds: 60 })
    strictEqual(await scene.store.renew(first, long), false)
    await scene.pass(90)
    strictEqual((await scene.claim()).attempt, 3)
  },
  'a completed claim is not renewed': async (scene) => {
    const claim = await scene.claim()
    await scene.store.complete(claim, answer, long)
    strictEqual(await scene.store.renew(claim, long), false)
    await expectAnswer(scene, answer)
  },
  'a released claim is not renewed, and stays released': async (scene) => {
    const claim = await scene.claim()
    await scene.store.release(claim)
    strictEqual(await scene.store.renew(claim, long), false)
    strictEqual((await scene.claim()).attempt, 1)
  },
  'a key that nobody claimed is not renewed, and stays free': async (scene) => {
    strictEqual(await scene.store.renew({ key: scene.key, token: 1, attempt: 1 }, long), false)
    strictEqual((await scene.claim()).attempt, 1)
  },
  'a claim of another token is not renewed': async (scene) => {
    const claim = await scene.claim({ leaseMilliseconds: 30 })
    for (const token of [claim.token - 1, claim.token + 1]) strictEqual(await scene.store.renew({ ...claim, token }, long), false)
    await scene.pass(60)
    strictEqual((await scene.claim()).attempt, 2)
  },
  'a token is higher than those of before the key was released': async (scene) => {
    const first = await scene.claim()
    await scene.store.release(first)
    ok((await scene.claim({ by: scene.second })).token > first.token)
  },
  'a token is higher than those of before the record ran out': async (scene) => {
    const first = await scene.claim({ lifetimeMilliseconds: 30, leaseMilliseconds: 20 })
    await scene.pass(60)
    ok((await scene.claim()).token > first.token)
  }
}

async function statesOf(scene: Scene, count: number, fingerprintOf?: (n: number) => string) {
  const outcomes: BeginOutcome[] = await Promise.all(
    Array.from({ length: count }, (_, n) =>
      scene.begin({ by: n % 2 ? scene.second : scene.store, ...(fingerprintOf && { fingerprint: fingerprintOf(n) }) })
    )
  )
  return outcomes
    .map(({ state }) => state)
    .sort()
    .join(' ')
}
