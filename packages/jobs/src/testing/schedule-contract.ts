import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type ContractCases, type RunTest, runCases } from '@concordat/plugin-kit/testing'
import type { DeclaredSchedule, ScheduleStore } from '../schedule-store.ts'
import type { JobStore } from '../store.ts'

const now = Date.parse('2026-05-01T12:00:00Z')
const minute = 60_000

const cases: ContractCases<JobStore> = {
  'stores declared schedules, and returns them by name': async (store) => {
    const schedules = schedulesOf(store)
    const [one, two] = [fresh(), fresh()].sort((a, b) => (a.name < b.name ? -1 : 1)) as [DeclaredSchedule, DeclaredSchedule]
    await schedules.declare([two, one], now, true)
    const stored = [one, two].map((schedule) => ({ ...schedule, isPaused: false, seenAt: now }))
    deepStrictEqual(await schedules.list([two.name, one.name, 'unknown']), stored)
    const all = await schedules.list()
    deepStrictEqual(
      all.filter(({ name }) => name === one.name || name === two.name),
      stored
    )
  },
  'retains the next time of the same timing, unless a clock was ahead': async (store) => {
    const schedules = schedulesOf(store)
    const schedule = fresh()
    const read = async () => (await schedules.list([schedule.name]))[0]?.nextAt
    await schedules.declare([schedule], now, true)
    await schedules.declare([{ ...schedule, nextAt: 7 }], now + 10 * minute, true)
    strictEqual(await read(), schedule.nextAt)
    await schedules.declare([{ ...schedule, nextAt: 7 }], now + 9 * minute, false)
    strictEqual(await read(), schedule.nextAt)
    await schedules.declare([{ ...schedule, nextAt: 7 }], now, false)
    strictEqual(await read(), 7)
  },
  'replaces another timing at a start, or when no process declares it any more': async (store) => {
    const schedules = schedulesOf(store)
    const schedule = fresh()
    const read = async () => (await schedules.list([schedule.name]))[0]
    await schedules.declare([schedule], now, true)
    await schedules.declare([{ ...schedule, timing: 'every 60 s', nextAt: 7 }], now + 5 * minute, false)
    strictEqual((await read())?.timing, schedule.timing)
    await schedules.declare([{ ...schedule, timing: 'every 60 s', nextAt: 7 }], now + 5 * minute + 1, false)
    deepStrictEqual([(await read())?.timing, (await read())?.nextAt], ['every 60 s', 7])
    await schedules.declare([schedule], now + 6 * minute, true)
    deepStrictEqual([(await read())?.timing, (await read())?.nextAt], [schedule.timing, schedule.nextAt])
  },
  'stores what was decided, with the last job, and nothing without a decision': async (store) => {
    const schedules = schedulesOf(store)
    const schedule = fresh()
    const read = async () => (await schedules.list([schedule.name]))[0]
    const before = { ...schedule, isPaused: false, seenAt: now }
    await schedules.declare([schedule], now, true)
    await schedules.decide('unknown', async () => ({ nextAt: 1, endsRequest: false }))
    await schedules.decide(schedule.name, async () => undefined)
    await schedules.decide(schedule.name, () => Promise.reject(new Error('no'))).catch(() => {})
    deepStrictEqual(await read(), before)
    strictEqual(await schedules.change(schedule.name, { requestedAt: now + 1 }), true)
    await schedules.decide(schedule.name, async (found) => {
      deepStrictEqual(found, { ...before, requestedAt: now + 1 })
      return { nextAt: now + 2, endsRequest: false }
    })
    const id = randomUUID()
    await store.add({ id, type: 't', owner: '', state: 'queued', input: null, attempt: 0, tries: 0, progress: 0, createdAt: now })
    await schedules.decide(schedule.name, async ({ requestedAt }) => {
      strictEqual(requestedAt, now + 1)
      return { nextAt: now + 3, lastAt: now + 2, lastJobId: id, endsRequest: true }
    })
    const ran = await read()
    deepStrictEqual([ran?.nextAt, ran?.lastAt, ran?.requestedAt], [now + 3, now + 2, undefined])
    deepStrictEqual(
      [ran?.lastJob?.id, ran?.lastJob?.state, ran?.lastJob?.createdAt, ran?.lastJob?.expiresAt],
      [id, 'queued', now, undefined]
    )
    await store.change(id, { states: ['queued'] }, { state: 'failed', expiresAt: now + 9 })
    await schedules.decide(schedule.name, async () => ({ nextAt: now + 4, endsRequest: false }))
    const after = await read()
    deepStrictEqual([after?.lastAt, after?.lastJob?.state, after?.lastJob?.expiresAt], [now + 2, 'failed', now + 9])
  },
  'pauses and resumes a schedule, and returns false for an unknown one': async (store) => {
    const schedules = schedulesOf(store)
    const schedule = fresh()
    await schedules.declare([schedule], now, true)
    for (const isPaused of [true, false]) {
      strictEqual(await schedules.change(schedule.name, { isPaused }), true)
      await schedules.declare([schedule], now, true)
      strictEqual((await schedules.list([schedule.name]))[0]?.isPaused, isPaused)
    }
    strictEqual(await schedules.change('unknown', { isPaused: true }), false)
    strictEqual(await schedules.change('unknown', { requestedAt: now }), false)
  },
  'deletes the schedules that were last seen before a time': async (store) => {
    const schedules = schedulesOf(store)
    const [old, young] = [fresh(), fresh()]
    await schedules.declare([old], 1000, true)
    await schedules.declare([young], 2000, true)
    await schedules.sweep(2000)
    const left = await schedules.list([old.name, young.name])
    deepStrictEqual(
      left.map(({ name }) => name),
      [young.name]
    )
  }
}

/** Registers tests of the requirements on the `schedules` of a `JobStore`. `create` returns a store for each test; it may contain schedules of earlier tests. */
export function scheduleStoreContract(test: RunTest, create: () => JobStore | Promise<JobStore>): void {
  runCases(test, cases, create)
}

function schedulesOf({ schedules }: JobStore): ScheduleStore {
  if (schedules === undefined) throw new Error('jobs: the store has no member schedules.')
  return schedules
}

function fresh(): DeclaredSchedule {
  return { name: `s-${randomUUID()}`, job: 'report', timing: '30 2 * * * Europe/Berlin', nextAt: now + minute }
}
