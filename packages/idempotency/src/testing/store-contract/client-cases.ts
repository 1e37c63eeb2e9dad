import { ok, strictEqual } from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { ContractCases } from '@concordat/plugin-kit/testing'
import type { IdempotencyStore } from '../../stored/store.ts'
import { digestOf, expectResponse, expectState, long, otherFingerprint, response, type Scene } from './scene.ts'

// Bytes, because a store may take twice the space for text.
const body = Buffer.alloc(100_000, 'x')
const maxClientBytes = 290_000

/** Cases about the limit of what is stored for a client. */
export const clientCases: ContractCases<Scene> = {
  'a client whose responses have reached the limit gets exceeded for a new key, and another client claims it': async (scene) => {
    const own = await full(scene)
    const outcome = await own.another().begin()
    ok(outcome.state === 'exceeded' && outcome.retryMs > 0 && outcome.retryMs < 2 * long)
    await expectState(own.another(), 'exceeded', { by: own.second })
    await expectState(own.another(), 'exceeded', { by: own.second })
    await expectState(own.another(), 'claimed', { client: digestOf(randomUUID()) })
    await expectState(own.another(), 'claimed', { maxClientBytes: 1_000_000 })
  },
  'a client below the limit claims a new key': async (scene) => {
    const own = scene.another({ client: digestOf(randomUUID()), maxClientBytes })
    for (let n = 0; n < 2; n += 1) await store(own, n % 2 ? own.second : own.store)
    await expectState(own.another(), 'claimed')
  },
  'the limit applies to new keys only': async (scene) => {
    const own = await full(scene)
    const done = own.another()
    const claim = await done.claim({ maxClientBytes: 1_000_000 })
    await expectState(done, 'busy')
    await done.store.complete(claim, response, long)
    await expectResponse(done, response)
    await expectState(done, 'mismatch', { fingerprint: otherFingerprint })
  },
  'a client that has reached the limit does not take over, and an owner that was lost is still abandoned': async (scene) => {
    const own = await full(scene)
    const lost = own.another()
    await lost.claim({ leaseMs: 20, maxClientBytes: 1_000_000 })
    await own.pass(40)
    await expectState(lost, 'exceeded')
    await expectState(lost, 'abandoned', { takesOver: false })
    strictEqual((await lost.claim({ maxClientBytes: 1_000_000 })).attempt, 2)
  },
  'many small responses reach the limit too: each counts with its record': async (scene) => {
    const own = scene.another({ client: digestOf(randomUUID()), maxClientBytes: 60_000 })
    await expectState(own, 'claimed')
    // As many at a time as a store with few connections serves.
    const lane = async () => {
      for (let n = 0; n < 50; n += 1) {
        const small = own.another({ maxClientBytes: Number.MAX_SAFE_INTEGER })
        await small.store.complete(await small.claim(), { status: 204, headers: {}, body: '' }, long)
      }
    }
    await Promise.all(Array.from({ length: 20 }, lane))
    await expectState(own.another(), 'exceeded')
  },
  'a claim tells the stored bytes of its client, also that of a key with a progress': async (scene) => {
    const own = scene.another({ client: digestOf(randomUUID()) })
    strictEqual(await bytesFor(own.another()), 0)
    const begun = own.another()
    await begun.store.complete(await begun.claim(), { status: 200, headers: {}, body, isProgress: true }, long)
    await store(own, own.second)
    const bytes = await bytesFor(own.another())
    // A store may write bytes as text.
    ok(bytes >= 2 * body.length && bytes < 3 * body.length, `${bytes} bytes are counted`)
    strictEqual(await bytesFor(begun), bytes)
    strictEqual(await bytesFor(own.another({ client: digestOf(randomUUID()) })), 0)
  },
  'claims, released keys and bodies that were not stored do not reach the limit': async (scene) => {
    const own = scene.another({ client: digestOf(randomUUID()), maxClientBytes })
    for (let n = 0; n < 5; n += 1) {
      await own.another().claim()
      await own.store.release(await own.another().claim())
      await own.store.complete(await own.another().claim(), { ...response, body: null }, long)
    }
    await expectState(own.another(), 'claimed')
  },
  'a repeated completion counts once': async (scene) => {
    const own = scene.another({ client: digestOf(randomUUID()), maxClientBytes })
    const claim = await own.claim()
    for (let n = 0; n < 5; n += 1) await own.store.complete(claim, { ...response, body }, long)
    await expectState(own.another(), 'claimed')
  },
  'responses stop counting when they expire': async (scene) => {
    const own = scene.another({ client: digestOf(randomUUID()), maxClientBytes })
    for (let n = 0; n < 3; n += 1) await store(own, own.store, 640)
    await own.pass(700)
    await expectState(own.another(), 'claimed')
  }
}

/** Returns a scene whose client has just reached its limit. */
async function full(scene: Scene): Promise<Scene> {
  const own = scene.another({ client: digestOf(randomUUID()), maxClientBytes })
  for (let n = 0; n < 3; n += 1) await store(own, n % 2 ? own.second : own.store)
  return own
}

async function bytesFor(scene: Scene): Promise<number> {
  const outcome = await scene.begin()
  strictEqual(outcome.state, 'claimed')
  return (outcome as { clientBytes: number }).clientBytes
}

async function store(scene: Scene, by: IdempotencyStore, lifetimeMs = long): Promise<void> {
  await by.complete(await scene.another().claim({ by }), { ...response, body }, lifetimeMs)
}
