import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import type { ContractCases } from '@concordat/plugin-kit/testing'
import type { BeginOutcome, Claim, StoredResponse } from '../../stored/store.ts'
import { type BeginInput, expectResponse, expectState, long, otherFingerprint, response, type Scene } from './scene.ts'

const progressOf = (body: string): StoredResponse => ({ status: 200, headers: {}, body, isProgress: true })

/** Cases about the progress of a request that is not finished. */
export const progressCases: ContractCases<Scene> = {
  'a key with a progress is claimed again by the same request, as a first attempt and with a higher token': async (scene) => {
    const first = await scene.claim()
    strictEqual(await scene.store.complete(first, progressOf('ñ 1'), long), 'stored')
    const { claim, body } = await continued(scene, { by: scene.second })
    deepStrictEqual([claim.attempt, body], [1, 'ñ 1'])
    ok(claim.token > first.token)
    await expectState(scene, 'busy')
  },
  'a key with a progress is claimed again where takeover is not allowed': async (scene) => {
    await scene.store.complete(await scene.claim(), progressOf('1'), long)
    strictEqual((await continued(scene, { takesOver: false })).body, '1')
  },
  'another request with a key that has a progress gets mismatch, between two attempts and during the second': async (scene) => {
    await scene.store.complete(await scene.claim(), progressOf('1'), long)
    await expectState(scene, 'mismatch', { fingerprint: otherFingerprint })
    await continued(scene)
    await expectState(scene, 'mismatch', { fingerprint: otherFingerprint })
  },
  'a progress replaces the one before, and a response replaces both': async (scene) => {
    await scene.store.complete(await scene.claim(), progressOf('1'), long)
    await scene.store.complete((await continued(scene)).claim, progressOf('2'), long)
    const { claim, body } = await continued(scene)
    strictEqual(body, '2')
    strictEqual(await scene.store.complete(claim, response, long), 'stored')
    await expectResponse(scene, response)
  },
  'a progress survives an owner that was lost, whose successor is a second attempt': async (scene) => {
    await scene.store.complete(await scene.claim(), progressOf('1'), long)
    const { claim: lost } = await continued(scene, { leaseMs: 20 })
    await scene.pass(40)
    await expectState(scene, 'abandoned', { takesOver: false })
    const { claim, body } = await continued(scene)
    deepStrictEqual([claim.attempt, body], [2, '1'])
    strictEqual(await scene.store.complete(lost, progressOf('late'), long), 'lost')
  },
  'a released claim leaves the progress, which belongs to the same request': async (scene) => {
    await scene.store.complete(await scene.claim(), progressOf('1'), long)
    const { claim } = await continued(scene)
    strictEqual(await scene.store.release(claim), 'released')
    strictEqual(await scene.store.release(claim), 'lost')
    await expectState(scene, 'mismatch', { fingerprint: otherFingerprint })
    strictEqual((await continued(scene)).body, '1')
  },
  'a repeated completion with a progress returns stored again and changes nothing, and the claim cannot be renewed': async (scene) => {
    const claim = await scene.claim()
    await scene.store.complete(claim, progressOf('1'), long)
    strictEqual(await scene.second.complete(claim, progressOf('2'), long), 'stored')
    strictEqual(await scene.second.complete(claim, response, long), 'stored')
    strictEqual(await scene.store.renew(claim, long), false)
    strictEqual(await scene.store.release(claim), 'lost')
    strictEqual((await continued(scene)).body, '1')
  },
  'the owner of a key with a progress can renew its claim': async (scene) => {
    await scene.store.complete(await scene.claim(), progressOf('1'), long)
    const { claim } = await continued(scene, { leaseMs: 20 })
    strictEqual(await scene.store.renew(claim, long), true)
    await scene.pass(40)
    await expectState(scene, 'busy')
  },
  'a progress expires after its lifetime, and the key is new': async (scene) => {
    await scene.store.complete(await scene.claim(), progressOf('1'), 40)
    await scene.pass(60)
    const outcome = await scene.begin({ fingerprint: otherFingerprint })
    deepStrictEqual([outcome.state, progressIn(outcome)], ['claimed', undefined])
  }
}

async function continued(scene: Scene, input?: BeginInput): Promise<{ readonly claim: Claim; readonly body: string }> {
  const outcome = await scene.begin(input)
  strictEqual(outcome.state, 'claimed')
  return { claim: (outcome as { readonly claim: Claim }).claim, body: String(progressIn(outcome)?.body) }
}

function progressIn(outcome: BeginOutcome) {
  return 'progress' in outcome ? outcome.progress : undefined
}
