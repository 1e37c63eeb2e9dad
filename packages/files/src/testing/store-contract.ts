import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { type ContractCases, type RunTest, runCases } from '@concordat/plugin-kit/testing'
import type { ByteRange, FileStore } from '../store.ts'

const cases: ContractCases<FileStore> = {
  'returns the bytes of an object, of any number of chunks': async (store) => {
    for (const sizes of [[], [0], [1], [3, 0, 5], [300_000, 1, 700_000], [2_000_000]]) {
      const id = randomUUID()
      const chunks = sizes.map((size) => randomBytes(size))
      await store.stage(id, from(chunks))
      assert.ok((await bytesOf(store, id)).equals(Buffer.concat(chunks)), `${sizes.join(' ')} bytes`)
    }
  },
  'returns any range of an object': async (store) => {
    const bytes = randomBytes(1_000_000)
    const id = await staged(store, bytes)
    for (const [start, end] of [
      [0, 0],
      [0, 999_999],
      [999_999, 999_999],
      [262_143, 262_144],
      [262_144, 524_287],
      [5, 600_000]
    ] as const)
      assert.ok((await bytesOf(store, id, { start, end })).equals(bytes.subarray(start, end + 1)), `${start} to ${end}`)
  },
  'stores nothing of bytes that cannot be read to their end': async (store) => {
    const id = randomUUID()
    await assert.rejects(store.stage(id, broken()), { message: 'the client has left' })
    await store.discard([id])
    await assert.rejects(bytesOf(store, id))
  },
  'discards what is staged, and keeps the rest': async (store) => {
    const [first, second] = [await staged(store), await staged(store)]
    await store.keep([first])
    await store.discard([first, second, randomUUID()])
    assert.equal((await bytesOf(store, first)).length, 10)
    await assert.rejects(bytesOf(store, second))
  },
  'refuses to keep what is not staged, with all that is kept with it': async (store) => {
    const [first, second] = [await staged(store), await staged(store)]
    await store.keep([first])
    await assert.rejects(store.keep([second, randomUUID()]))
    await assert.rejects(store.keep([first]))
    await store.discard([second])
    await assert.rejects(bytesOf(store, second))
  },
  'deletes objects, staged or permanent': async (store) => {
    const [first, second] = [await staged(store), await staged(store)]
    await store.keep([first])
    await store.delete([first, second, randomUUID()])
    for (const id of [first, second]) await assert.rejects(bytesOf(store, id))
  },
  'sweeps what was staged before a time, and nothing permanent': async (store) => {
    const [first, second] = [await staged(store), await staged(store)]
    await store.keep([first])
    await store.sweep(Date.now() - 3_600_000, 1000)
    assert.equal((await bytesOf(store, second)).length, 10)
    while ((await store.sweep(Date.now() + 3_600_000, 1)) === 1);
    assert.equal((await bytesOf(store, first)).length, 10)
    await assert.rejects(bytesOf(store, second))
  }
}

/** Registers tests of the requirements that every `FileStore` must meet outside of a transaction. `create` returns a store for each test. */
export function fileStoreContract(test: RunTest, create: () => FileStore | Promise<FileStore>): void {
  runCases(test, cases, create)
}

async function staged(store: FileStore, bytes: Buffer = randomBytes(10)) {
  const id = randomUUID()
  await store.stage(id, from([bytes]))
  return id
}

async function* broken() {
  yield randomBytes(600_000)
  throw new Error('the client has left')
}

async function* from(chunks: readonly Buffer[]) {
  yield* chunks
}

async function bytesOf(store: FileStore, id: string, range?: ByteRange) {
  const chunks: Uint8Array[] = []
  for await (const chunk of store.read(id, range)) chunks.push(chunk)
  return Buffer.concat(chunks)
}
