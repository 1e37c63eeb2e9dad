import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type ContractCases, type RunTest, runCases } from '@concordat/plugin-kit/testing'
import type { JobStore } from '../stores/store.ts'
import type { StoredJob } from '../stores/stored-job.ts'

const cases: ContractCases<JobStore> = {
  'returns a job as it was stored, and does not store a second job with the same id': async (store) => {
    const job = fresh()
    strictEqual(await store.read(job.id), undefined)
    strictEqual(await store.add(job), undefined)
    deepStrictEqual(await store.add({ ...job, owner: 'other' }), job)
    deepStrictEqual(await store.read(job.id), job)
  },
  'stores the tenant of a job, and none': async (store) => {
    const [own, none] = [
      { ...fresh(), owner: randomUUID(), tenant: 'acme' },
      { ...fresh(), owner: randomUUID() }
    ]
    for (const job of [own, none]) await store.add(job)
    deepStrictEqual(await store.read(own.id), own)
    deepStrictEqual(await store.read(none.id), none)
  },
  'stores no more jobs of an owner and a type that have not ended than the limit, and returns a known one beyond it': async (store) => {
    const owner = randomUUID()
    const [one, two, three, four] = Array.from({ length: 4 }, (): StoredJob => ({ ...fresh(), owner })) as [
      StoredJob,
      StoredJob,
      StoredJob,
      StoredJob
    ]
    for (const job of [one, two]) strictEqual(await store.add(job, undefined, 2), undefined)
    strictEqual(await store.add(three, undefined, 2), 'full')
    strictEqual(await store.read(three.id), undefined)
    deepStrictEqual(await store.add(two, undefined, 2), two)
    strictEqual(await store.add({ ...three, type: 'other' }, undefined, 2), undefined, 'of another type')
    strictEqual(await store.add({ ...fresh(), owner: randomUUID() }, undefined, 2), undefined, 'of another owner')
    strictEqual(await store.add(four), undefined, 'without a limit')
    for (const { id } of [one, four]) await store.change(id, { states: ['queued'] }, { state: 'cancelled', expiresAt: 1000 })
    strictEqual(await store.add(fresh(), undefined, 2), undefined)
    strictEqual(await store.add({ ...fresh(), owner }, undefined, 2), undefined, 'after one has ended')
    strictEqual(await store.add({ ...fresh(), owner }, undefined, 2), 'full')
  },
  'applies a change only in the expected states and at the expected attempt': async (store) => {
    const job = fresh()
    await store.add(job)
    strictEqual(await store.change(randomUUID(), { states: ['queued'] }, { progress: 1 }), false)
    strictEqual(await store.change(job.id, { states: ['processing', 'failed'] }, { progress: 1 }), false)
    strictEqual(await store.change(job.id, { states: ['queued'], attempt: 1 }, { progress: 1 }), false)
    deepStrictEqual(await store.read(job.id), job)
    strictEqual(await store.change(job.id, { states: ['queued'], attempt: 0 }, { state: 'processing', attempt: 2, tries: 1 }), true)
    deepStrictEqual(await store.read(job.id), { ...job, state: 'processing', attempt: 2, tries: 1 })
    strictEqual(await store.change(job.id, { states: ['processing'] }, { progress: 12.5 }), true)
    const over = { state: 'completed', result: { list: [null, 'x'] }, expiresAt: job.createdAt + 5 } as const
    strictEqual(await store.change(job.id, { states: ['processing'], attempt: 2 }, over), true)
    deepStrictEqual(await store.read(job.id), { ...job, attempt: 2, tries: 1, progress: 12.5, ...over })
  },
  'stores a null result, and an error with its code': async (store) => {
    const [one, two] = [fresh(), fresh()]
    for (const job of [one, two]) await store.add(job)
    await store.change(one.id, { states: ['queued'] }, { result: null })
    strictEqual((await store.read(one.id))?.result, null)
    const error = { code: 'JOB_FAILED', message: 'no' }
    await store.change(two.id, { states: ['queued'] }, { state: 'failed', error })
    deepStrictEqual((await store.read(two.id))?.error, error)
  },
  'removes the error and the expiry of a job that is queued again': async (store) => {
    const job = fresh()
    await store.add(job)
    await store.change(job.id, { states: ['queued'] }, { state: 'failed', error: { code: 'JOB_FAILED', message: 'no' }, expiresAt: 1000 })
    strictEqual(await store.change(job.id, { states: ['failed'] }, { state: 'queued', tries: 0 }), true)
    deepStrictEqual(await store.read(job.id), job)
  },
  'lists the jobs of one type and owner that have not expired, in either order': async (store) => {
    const owner = randomUUID()
    const of = (createdAt: number): StoredJob => ({ ...fresh(), owner, createdAt })
    const [oldest, newest] = [of(1000), of(3000)]
    const jobs = [of(2000), of(2000)].sort((one, other) => (one.id < other.id ? -1 : 1))
    const [expired, otherType, otherOwner] = [of(1500), { ...of(1500), type: 'other' }, { ...fresh(), createdAt: 1500 }]
    for (const job of [newest, ...jobs, oldest, expired, otherType, otherOwner]) await store.add(job)
    await store.change(expired.id, { states: ['queued'] }, { state: 'failed', expiresAt: 5000 })
    await store.change(oldest.id, { states: ['queued'] }, { state: 'completed', result: { a: null }, expiresAt: 5001 })
    const listing = { type: newest.type, owner, now: 5000, descending: false, offset: 0, limit: 10 }
    const listed = [
      { id: oldest.id, state: 'completed', createdAt: 1000, result: { a: null } },
      ...[...jobs, newest].map(({ id, createdAt }) => ({ id, state: 'queued', createdAt }))
    ]
    deepStrictEqual(await store.list(listing), { jobs: listed, total: 4 })
    deepStrictEqual(await store.list({ ...listing, descending: true, offset: 1, limit: 2 }), {
      jobs: listed.toReversed().slice(1, 3),
      total: 4
    })
    deepStrictEqual(await store.list({ ...listing, offset: 4 }), { jobs: [], total: 4 })
    deepStrictEqual(await store.list({ ...listing, owner: 'unknown' }), { jobs: [], total: 0 })
  },
  'applies one of many simultaneous changes that expect the same state': async (store) => {
    const job = fresh()
    await store.add(job)
    const made = await Promise.all(
      Array.from({ length: 10 }, (_, attempt) => store.change(job.id, { states: ['queued'] }, { state: 'processing', attempt }))
    )
    strictEqual(made.filter(Boolean).length, 1)
    strictEqual((await store.read(job.id))?.attempt, made.indexOf(true))
  },
  'stores the output of the current attempt until the job is no longer processing or completed': async (store) => {
    const job = fresh()
    await store.add(job)
    strictEqual(await store.append(job.id, 0, 1, 'queued'), false)
    strictEqual(await store.append(randomUUID(), 1, 1, 'unknown'), false)
    await store.change(job.id, { states: ['queued'] }, { state: 'processing', attempt: 1 })
    strictEqual(await store.append(job.id, 1, 1, 'lost'), true)
    await store.change(job.id, { states: ['processing'] }, { state: 'processing', attempt: 2 })
    strictEqual(await store.append(job.id, 1, 2, 'of the lost attempt'), false)
    strictEqual(await store.readPiece(job.id, 1), undefined)
    for (const [index, piece] of ['a', 'ñ', 'again'].entries())
      strictEqual(await store.append(job.id, 2, Math.min(index, 1) + 1, piece), true)
    await store.change(job.id, { states: ['processing'] }, { progress: 50 })
    await store.change(job.id, { states: ['processing'] }, { state: 'completed', expiresAt: 1000 })
    const read = async (...numbers: number[]) => Promise.all(numbers.map((number) => store.readPiece(job.id, number)))
    deepStrictEqual(await read(1, 2, 3), ['a', 'again', undefined])
    strictEqual(await store.append(job.id, 2, 3, 'late'), false)
    while ((await store.sweep(2000, 2)) > 0);
    deepStrictEqual(await read(1), [undefined])
  },
  'sweeps only jobs that expired before a time, up to a maximum': async (store) => {
    const [old, young, open] = [fresh(), fresh(), fresh()]
    for (const job of [old, young, open]) await store.add(job)
    await store.change(old.id, { states: ['queued'] }, { state: 'failed', expiresAt: 1000 })
    await store.change(young.id, { states: ['queued'] }, { state: 'failed', expiresAt: 2000 })
    strictEqual(await store.sweep(2000, 1), 1)
    while ((await store.sweep(2000, 1)) > 0);
    deepStrictEqual(
      [await store.read(old.id), (await store.read(young.id))?.id, (await store.read(open.id))?.id],
      [undefined, young.id, open.id]
    )
  }
}

/** Registers tests of the requirements on every `JobStore`. `create` returns a store for each test; it may contain jobs of earlier tests. */
export function jobStoreContract(test: RunTest, create: () => JobStore | Promise<JobStore>): void {
  runCases(test, cases, create)
}

function fresh(): StoredJob {
  const createdAt = Date.now()
  return { id: randomUUID(), type: 't', owner: 'o', state: 'queued', input: { a: 'Ñandú' }, attempt: 0, tries: 0, progress: 0, createdAt }
}
