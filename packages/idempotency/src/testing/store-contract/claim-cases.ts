import { ok, strictEqual } from 'node:assert/strict'
import type { ContractCases } from '@concordat/plugin-kit/testing'
import type { BeginOutcome, Claim } from '../../stored/store.ts'
import { digestOf, expectResponse, expectState, long, otherFingerprint, response, type Scene } from './scene.ts'

/** Cases about the ownership of a key: claims, leases and tokens. */
export const claimCases: ContractCases<Scene> = {
  'a new key is claimed with attempt 1': async (scene) => {
    const { key, attempt, token } = await scene.claim()
    strictEqual(key, scene.key)
    strictEqual(attempt, 1)
    ok(Number.isSafeInteger(token) && token > 0)
  },
  'a claimed key is busy for at most the duration of its lease': async (scene) => {
    await scene.claim()
    const outcome = await scene.begin()
    ok(outcome.state === 'busy' && outcome.leaseMs >= 0 && outcome.leaseMs <= long)
  },
  'a key that was claimed on a connection is busy on another': async (scene) => {
    await scene.claim()
    await expectState(scene, 'busy', { by: scene.second })
  },
  'the remaining time of the lease decreases': async (scene) => {
    await scene.claim()
    await scene.pass(30)
    const outcome = await scene.begin()
    ok(outcome.state === 'busy' && outcome.leaseMs <= long - 20)
  },
  'claiming a key does not affect another key': async (scene) => {
    await scene.claim()
    const key = `${scene.key.slice(0, -1)}${scene.key.endsWith('A') ? 'E' : 'A'}`
    const other = await scene.begin({ key, fingerprint: otherFingerprint })
    strictEqual(other.state, 'claimed')
    await expectState(scene, 'busy')
  },
  'exactly one of many concurrent callers on two connections claims, and the others get busy': async (scene) => {
    strictEqual(await statesOf(scene, 50), `${'busy '.repeat(49)}claimed`)
  },
  'exactly one of many different requests claims, and the others get mismatch': async (scene) => {
    strictEqual(await statesOf(scene, 20, (n) => digestOf(`request ${n}`)), `claimed${' mismatch'.repeat(19)}`)
  },
  'another request with the key gets mismatch while the first runs': async (scene) => {
    await scene.claim()
    await expectState(scene, 'mismatch', { fingerprint: otherFingerprint })
  },
  'another request with the key gets mismatch when the first is done': async (scene) => {
    await scene.store.complete(await scene.claim(), response, long)
    await expectState(scene, 'mismatch', { fingerprint: otherFingerprint, by: scene.second })
  },
  'another request with the key gets mismatch when the owner was lost, and does not take over': async (scene) => {
    await scene.lose()
    await expectState(scene, 'mismatch', { fingerprint: otherFingerprint })
    strictEqual((await scene.claim()).attempt, 2)
  },
  'another request with the key gets mismatch when the owner was lost and takeover is not allowed': async (scene) => {
    await scene.lose()
    await expectState(scene, 'mismatch', { fingerprint: otherFingerprint, takesOver: false })
  },
  'a mismatch does not change the record, while the first runs and when it is done': async (scene) => {
    const claim = await scene.claim()
    await expectState(scene, 'mismatch', { fingerprint: otherFingerprint })
    strictEqual(await scene.store.complete(claim, response, long), 'stored')
    await expectState(scene, 'mismatch', { fingerprint: otherFingerprint })
    await expectResponse(scene, response)
  },
  'a busy outcome does not prolong the lease': async (scene) => {
    await scene.claim({ leaseMs: 60 })
    await scene.begin({ takesOver: false })
    await scene.pass(40)
    await scene.begin({ takesOver: false })
    await scene.pass(40)
    strictEqual((await scene.claim()).attempt, 2)
  },
  'after the lease expires, the next caller takes over with attempt 2 and a higher token': async (scene) => {
    const first = await scene.lose()
    const second = await scene.claim({ by: scene.second })
    strictEqual(second.attempt, 2)
    ok(second.token > first.token)
    await expectState(scene, 'busy')
  },
  'exactly one of many concurrent callers takes over': async (scene) => {
    await scene.lose()
    strictEqual(await statesOf(scene, 50), `${'busy '.repeat(49)}claimed`)
  },
  'each lost owner adds 1 to the attempt, and each token is higher': async (scene) => {
    const claims: Claim[] = []
    for (let round = 0; round < 4; round += 1) claims.push(await scene.lose())
    strictEqual(claims.map(({ attempt }) => attempt).join(), '1,2,3,4')
    for (let n = 1; n < 4; n += 1) ok((claims[n]?.token ?? 0) > (claims[n - 1]?.token ?? 0))
  },
  'a key whose owner was lost is abandoned when takeover is not allowed': async (scene) => {
    await scene.lose()
    await expectState(scene, 'abandoned', { takesOver: false })
    await expectState(scene, 'abandoned', { takesOver: false, by: scene.second })
  },
  'an abandoned outcome does not change the record': async (scene) => {
    const claim = await scene.lose()
    await expectState(scene, 'abandoned', { takesOver: false })
    strictEqual(await scene.store.complete(claim, response, long), 'stored')
    await expectResponse(scene, response, { takesOver: false })
  },
  'a key is busy until its lease expires when takeover is not allowed': async (scene) => {
    await scene.claim()
    await expectState(scene, 'busy', { takesOver: false })
  },
  'a renewed claim outlasts its first lease': async (scene) => {
    const claim = await scene.claim({ leaseMs: 30 })
    strictEqual(await scene.store.renew(claim, long), true)
    await scene.pass(60)
    await expectState(scene, 'busy')
  },
  'a renewed lease is measured from now, also when it is shorter': async (scene) => {
    const claim = await scene.claim()
    strictEqual(await scene.store.renew(claim, 20), true)
    await scene.pass(40)
    strictEqual((await scene.claim()).attempt, 2)
  },
  'a claim can be renewed by another connection': async (scene) => {
    const claim = await scene.claim({ leaseMs: 30 })
    strictEqual(await scene.second.renew(claim, long), true)
    await scene.pass(60)
    await expectState(scene, 'busy')
  },
  'an owner whose lease has expired can renew it while there is no new owner': async (scene) => {
    const claim = await scene.lose()
    strictEqual(await scene.store.renew(claim, long), true)
    await expectState(scene, 'busy')
    strictEqual(await scene.store.complete(claim, response, long), 'stored')
  },
  'an owner that lost its claim cannot renew it, and the lease of the next owner is unchanged': async (scene) => {
    const first = await scene.lose()
    await scene.claim({ leaseMs: 60 })
    strictEqual(await scene.store.renew(first, long), false)
    await scene.pass(90)
    strictEqual((await scene.claim()).attempt, 3)
  },
  'a completed claim cannot be renewed': async (scene) => {
    const claim = await scene.claim()
    await scene.store.complete(claim, response, long)
    strictEqual(await scene.store.renew(claim, long), false)
    await expectResponse(scene, response)
  },
  'a released claim cannot be renewed and stays released': async (scene) => {
    const claim = await scene.claim()
    await scene.store.release(claim)
    strictEqual(await scene.store.renew(claim, long), false)
    strictEqual((await scene.claim()).attempt, 1)
  },
  'a key that was not claimed cannot be renewed and stays free': async (scene) => {
    strictEqual(await scene.store.renew({ key: scene.key, client: scene.key, token: 1, attempt: 1 }, long), false)
    strictEqual((await scene.claim()).attempt, 1)
  },
  'a claim with another token cannot be renewed': async (scene) => {
    const claim = await scene.claim({ leaseMs: 30 })
    for (const token of [claim.token - 1, claim.token + 1]) strictEqual(await scene.store.renew({ ...claim, token }, long), false)
    await scene.pass(60)
    strictEqual((await scene.claim()).attempt, 2)
  },
  'a token is higher than the tokens before the key was released': async (scene) => {
    const first = await scene.claim()
    await scene.store.release(first)
    ok((await scene.claim({ by: scene.second })).token > first.token)
  },
  'a token is higher than the tokens before the record expired': async (scene) => {
    const first = await scene.claim({ lifetimeMs: 30, leaseMs: 20 })
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
