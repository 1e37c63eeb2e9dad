import { strictEqual } from 'node:assert/strict'
import type { ContractCases } from '@concordat/plugin-kit/testing'
import type { StoredResponse } from '../../stored/store.ts'
import { expectResponse, expectState, long, otherFingerprint, response, type Scene } from './scene.ts'

const everyByte = Uint8Array.from({ length: 256 }, (_, byte) => byte)
const another: StoredResponse = { status: 200, headers: {}, body: 'another' }

/** Cases about stored responses, their lifetime, and released keys. */
export const responseCases: ContractCases<Scene> = {
  'a completed key returns its response on every connection': async (scene) => {
    strictEqual(await scene.store.complete(await scene.claim(), response, long), 'stored')
    await expectResponse(scene, response)
    await expectResponse(scene, response, { by: scene.second })
  },
  'a response is returned repeatedly': async (scene) => {
    await scene.store.complete(await scene.claim(), response, long)
    for (let n = 0; n < 3; n += 1) await expectResponse(scene, response)
  },
  'a claim can be completed by another connection': async (scene) => {
    strictEqual(await scene.second.complete(await scene.claim(), response, long), 'stored')
    await expectResponse(scene, response)
  },
  'every status is stored': async (scene) => {
    for (const status of [200, 204, 303, 404, 422, 500, 599]) {
      const own = scene.another()
      await own.store.complete(await own.claim(), { ...response, status }, long)
      await expectResponse(own, { ...response, status })
    }
  },
  'header fields are stored with any content': async (scene) => {
    const headers = {
      link: '</a>; rel="next", </b>; rel="prev"',
      etag: 'W/"a\\"b"',
      'x-empty': '',
      'x-odd': '{}[]:,=%00 ~ÿ',
      location: '/ä'
    }
    await scene.store.complete(await scene.claim(), { ...response, headers }, long)
    await expectResponse(scene, { ...response, headers })
  },
  'a response without header fields is stored': async (scene) => {
    await scene.store.complete(await scene.claim(), { ...response, headers: {} }, long)
    await expectResponse(scene, { ...response, headers: {} })
  },
  'text with any content comes back with the same bytes': async (scene) => {
    const body = '{"name":"Ñandú 🐦","text":"line\\n\\"quoted\\" \u2028","nul":"\u0000"}\r\n'
    await scene.store.complete(await scene.claim(), { ...response, body }, long)
    await expectResponse(scene, { ...response, body })
  },
  'text of one character comes back': async (scene) => {
    await scene.store.complete(await scene.claim(), { ...response, body: '0' }, long)
    await expectResponse(scene, { ...response, body: '0' })
  },
  'an empty body is distinguished from a body that was not stored': async (scene) => {
    await scene.store.complete(await scene.claim(), { ...response, status: 204, body: '' }, long)
    await expectResponse(scene, { ...response, status: 204, body: '' })
  },
  'a body that was not stored is distinguished from an empty body': async (scene) => {
    await scene.store.complete(await scene.claim(), { ...response, body: null }, long)
    await expectResponse(scene, { ...response, body: null })
  },
  'bytes come back unchanged': async (scene) => {
    await scene.store.complete(await scene.claim(), { ...response, body: everyByte }, long)
    await expectResponse(scene, { ...response, body: everyByte })
  },
  'bytes that are valid text come back as bytes': async (scene) => {
    await scene.store.complete(await scene.claim(), { ...response, body: Buffer.from('{"id":1}') }, long)
    await expectResponse(scene, { ...response, body: Buffer.from('{"id":1}') })
  },
  'a body of 1 MiB comes back': async (scene) => {
    const body = 'ä'.repeat(512 * 1024)
    await scene.store.complete(await scene.claim(), { ...response, body }, long)
    await expectResponse(scene, { ...response, body })
  },
  'an owner whose lease has expired can complete while there is no new owner': async (scene) => {
    strictEqual(await scene.store.complete(await scene.lose(), response, long), 'stored')
    await expectResponse(scene, response)
  },
  'an owner that lost its claim cannot complete it, and the next owner continues': async (scene) => {
    const first = await scene.lose()
    const second = await scene.claim()
    strictEqual(await scene.store.complete(first, another, long), 'lost')
    await expectState(scene, 'busy')
    strictEqual(await scene.store.complete(second, response, long), 'stored')
    await expectResponse(scene, response)
  },
  'an owner that lost its claim does not overwrite the response of the next owner': async (scene) => {
    const first = await scene.lose()
    await scene.store.complete(await scene.claim(), response, long)
    strictEqual(await scene.store.complete(first, another, long), 'lost')
    await expectResponse(scene, response)
  },
  'a repeated completion with the same claim returns stored again and changes nothing': async (scene) => {
    const claim = await scene.claim()
    await scene.store.complete(claim, response, long)
    strictEqual(await scene.second.complete(claim, another, long), 'stored')
    await expectResponse(scene, response)
  },
  'a repeated completion does not prolong the lifetime of the response': async (scene) => {
    const claim = await scene.claim()
    await scene.store.complete(claim, response, 40)
    await scene.store.complete(claim, response, long)
    await scene.pass(60)
    await expectState(scene, 'claimed')
  },
  'one response is stored by many concurrent completions of the same claim': async (scene) => {
    const claim = await scene.claim()
    const outcomes = await Promise.all(
      Array.from({ length: 10 }, async (_, n) => (n % 2 ? scene.second : scene.store).complete(claim, { ...response, body: 'same' }, long))
    )
    strictEqual(outcomes.join(' '), 'stored '.repeat(10).trim())
    await expectResponse(scene, { ...response, body: 'same' })
  },
  'exactly one of a concurrent late completion and takeover gets the key': async (scene) => {
    const first = await scene.lose()
    const [outcomes, outcome] = await Promise.all([scene.store.complete(first, response, long), scene.begin({ by: scene.second })])
    strictEqual(`${outcomes} ${outcome.state}`, outcomes === 'stored' ? 'stored done' : 'lost claimed')
  },
  'a released claim cannot be completed, and the key stays free': async (scene) => {
    const claim = await scene.claim()
    await scene.store.release(claim)
    strictEqual(await scene.store.complete(claim, another, long), 'lost')
    await expectState(scene, 'claimed')
  },
  'a released claim cannot complete the claim that came after it': async (scene) => {
    const first = await scene.claim()
    await scene.store.release(first)
    const second = await scene.claim()
    strictEqual(await scene.store.complete(first, another, long), 'lost')
    strictEqual(await scene.store.complete(second, response, long), 'stored')
    await expectResponse(scene, response)
  },
  'a claim with another token cannot complete': async (scene) => {
    const claim = await scene.claim()
    for (const token of [0, claim.token - 1, claim.token + 1]) {
      strictEqual(await scene.store.complete({ ...claim, token }, another, long), 'lost')
    }
    await expectState(scene, 'busy')
  },
  'a key that was not claimed cannot be completed and stays free': async (scene) => {
    strictEqual(await scene.store.complete({ key: scene.key, client: scene.key, token: 1, attempt: 1 }, another, long), 'lost')
    await expectState(scene, 'claimed')
  },
  'a claim whose record has expired cannot be completed': async (scene) => {
    const claim = await scene.claim({ lifetimeMs: 30 })
    await scene.pass(60)
    strictEqual(await scene.store.complete(claim, another, long), 'lost')
    await expectState(scene, 'claimed')
  },
  'a response expires after its lifetime, and the key is new': async (scene) => {
    await scene.store.complete(await scene.lose().then(() => scene.claim()), response, 40)
    await scene.pass(60)
    strictEqual((await scene.claim()).attempt, 1)
  },
  'an expired key is free for another request': async (scene) => {
    await scene.store.complete(await scene.claim(), response, 40)
    await scene.pass(60)
    await expectState(scene, 'claimed', { fingerprint: otherFingerprint })
  },
  'the lifetime of a response starts at its completion': async (scene) => {
    const claim = await scene.claim({ lifetimeMs: 500 })
    await scene.store.complete(claim, response, long)
    await scene.pass(550)
    await expectResponse(scene, response)
  },
  'a replay does not prolong the lifetime of a response': async (scene) => {
    await scene.store.complete(await scene.claim(), response, 200)
    await scene.begin({ takesOver: false })
    await scene.pass(120)
    // On a slow machine, the record may have expired already.
    if ((await scene.begin()).state !== 'done') return
    await scene.pass(100)
    await expectState(scene, 'claimed')
  },
  'a claim whose owner never came back expires after its lifetime': async (scene) => {
    await scene.claim({ lifetimeMs: 40, leaseMs: 20 })
    await scene.pass(60)
    strictEqual((await scene.claim({ takesOver: false, fingerprint: otherFingerprint })).attempt, 1)
  },
  'a released key starts with the first attempt again, also for another request': async (scene) => {
    strictEqual(await scene.store.release(await scene.claim()), 'released')
    const claim = await scene.claim({ fingerprint: otherFingerprint, by: scene.second })
    strictEqual(claim.attempt, 1)
  },
  'an owner whose lease has expired can release while there is no new owner': async (scene) => {
    strictEqual(await scene.store.release(await scene.lose()), 'released')
    strictEqual((await scene.claim()).attempt, 1)
  },
  'an owner that lost its claim cannot release it': async (scene) => {
    const first = await scene.lose()
    const second = await scene.claim()
    strictEqual(await scene.store.release(first), 'lost')
    await expectState(scene, 'busy')
    strictEqual(await scene.store.complete(second, response, long), 'stored')
  },
  'a completed claim cannot be released': async (scene) => {
    const claim = await scene.claim()
    await scene.store.complete(claim, response, long)
    strictEqual(await scene.store.release(claim), 'lost')
    await expectResponse(scene, response)
  },
  'a second release returns lost': async (scene) => {
    const claim = await scene.claim()
    strictEqual(await scene.store.release(claim), 'released')
    strictEqual(await scene.store.release(claim), 'lost')
  },
  'a key that was not claimed cannot be released': async (scene) => {
    strictEqual(await scene.store.release({ key: scene.key, client: scene.key, token: 1, attempt: 1 }), 'lost')
  },
  'a claim with another token cannot release': async (scene) => {
    const claim = await scene.claim()
    strictEqual(await scene.store.release({ ...claim, token: claim.token + 1 }), 'lost')
    await expectState(scene, 'busy')
  }
}
