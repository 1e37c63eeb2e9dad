import jobs, { defineJob, type JobsOptions, memoryJobStore, type Occurrence, type ScheduleOptions } from '@concordat/jobs'
import { ApiError } from '@concordat/plugin-kit/api-error'
import { contributions, publish } from '@concordat/plugin-kit/wiring'
import { memoryWorkQueue } from '@concordat/work-queue'
import { type TestClock, testClock } from '@concordat/work-queue/testing'
import { Type } from '@sinclair/typebox'
import Fastify from 'fastify'
import t, { type Test } from 'tap'
import { z } from 'zod'
import { expectedOccurrences } from './expected-occurrences.ts'

const minute = 60_000
const day = 1440 * minute
const nightly = { name: 'nightly', cron: '30 2 * * *', zone: 'Europe/Berlin' } as const

interface Input {
  readonly name: string
  readonly at: string
}
const input = { type: 'object', required: ['name', 'at'], properties: { name: { type: 'string' }, at: { type: 'string' } } }
type Timing = Partial<ScheduleOptions<Input>> & { readonly name: string }

/** Starts a service in memory whose schedules start a job that notes the planned time, and its own. */
async function serviceOf(
  t: Test,
  clock: TestClock,
  schedules: readonly Timing[],
  more: Partial<JobsOptions> & { handler?: () => Promise<void> } = {}
) {
  const { handler = async () => {}, ...options } = more
  const runs: { name: string; at: string; begunAt: string }[] = []
  const counted: string[] = []
  const job = defineJob<Input>({
    name: 'note',
    input,
    async handler(given) {
      runs.push({ ...given, begunAt: new Date(clock.now()).toISOString() })
      await handler()
    }
  })
  const app = Fastify()
  publish(app, {
    observer: {
      count: (_counter: unknown, { outcome }: { outcome: string }) => counted.push(outcome),
      record: () => {},
      traceparent: () => undefined,
      run: (_span: unknown, work: () => unknown) => work()
    }
  } as never)
  const queue = options.queue ?? memoryWorkQueue({ clock })
  await app.register(jobs, { queue, ...options })
  for (const schedule of schedules)
    app.jobs.schedule(job, { ...schedule, input: ({ plannedAt }: Occurrence) => ({ name: schedule.name, at: plannedAt.toISOString() }) })
  const close = async () => {
    await app.close()
    if (options.queue === undefined) await queue.close(0)
  }
  t.teardown(close)
  await app.ready()
  return { app, runs, counted, close, times: (name: string) => runs.filter((run) => run.name === name).map(({ at }) => at) }
}

const changes: Record<string, readonly string[]> = {
  'Europe/Berlin': ['2026-03-29T01:00Z', '2026-10-25T01:00Z'],
  'America/New_York': ['2026-03-08T07:00Z', '2026-11-01T06:00Z'],
  'Australia/Lord_Howe': ['2026-04-04T15:00Z', '2026-10-03T15:30Z'],
  'Africa/Cairo': ['2026-04-23T22:00Z', '2026-10-29T21:00Z'],
  'Pacific/Apia': ['2011-12-30T10:00Z'],
  UTC: ['2026-03-29T01:00Z']
}
const every = (from: number, to: number, step = 1) => Array.from({ length: (to - from) / step + 1 }, (_, index) => from + index * step)
const patterns: readonly (readonly [string, readonly number[], readonly number[] | undefined])[] = [
  ['30 2', [30], [2]],
  ['0,30 2', [0, 30], [2]],
  ['30 2,3', [30], [2, 3]],
  ['*/15 2', every(0, 45, 15), [2]],
  ['0 *', [0], undefined],
  ['0 0', [0], [0]],
  ['15 0', [15], [0]],
  ['30 23', [30], [23]],
  ['10 1-3/2,5', [10], [1, 3, 5]]
]

for (const [zone, times] of Object.entries(changes))
  for (const time of times)
    t.test(
      `in ${zone} around ${time}, a missing time is shifted and one that occurs twice runs once, except for patterns of every hour`,
      async (t) => {
        const [from, to] = [Date.parse(time) - 1.25 * day, Date.parse(time) + 1.25 * day]
        const clock = testClock(from)
        const named = patterns.map(([pattern], index) => ({
          name: `pattern-${index}`,
          cron: `${pattern} * * *`,
          zone,
          overlap: 'allow' as const
        }))
        const { times: timesOf, runs } = await serviceOf(t, clock, named)
        await clock.advance(to - from)
        for (const [index, [pattern, minutes, hours]] of patterns.entries())
          t.strictSame(timesOf(`pattern-${index}`), expectedOccurrences({ zone, minutes, hours, from, to }), pattern)
        t.strictSame(
          runs.filter(({ at, begunAt }) => at !== begunAt),
          [],
          'each run starts at its time'
        )
      }
    )

t.test('starts at the last day of a month, at days that few months have, and at a weekday of a week', async (t) => {
  const clock = testClock(Date.parse('2027-12-30T12:00Z'))
  const zone = 'UTC'
  const { times } = await serviceOf(t, clock, [
    { name: 'last', cron: '0 0 L * *', zone },
    { name: 'leap', cron: '0 0 29 2 *', zone },
    { name: 'long', cron: '0 0 31 * *', zone },
    { name: 'second', cron: '0 0 * * MON#2', zone }
  ])
  await clock.advance(95 * day)
  t.strictSame(
    times('last'),
    ['2027-12-31', '2028-01-31', '2028-02-29', '2028-03-31'].map((date) => `${date}T00:00:00.000Z`)
  )
  t.strictSame(times('leap'), ['2028-02-29T00:00:00.000Z'])
  t.strictSame(
    times('long'),
    ['2027-12-31', '2028-01-31', '2028-03-31'].map((date) => `${date}T00:00:00.000Z`)
  )
  t.strictSame(
    times('second'),
    ['2028-01-10', '2028-02-14', '2028-03-13'].map((date) => `${date}T00:00:00.000Z`)
  )
})

t.test('an interval starts at its multiples', async (t) => {
  const clock = testClock(Date.parse('2026-05-01T10:00:01Z'))
  const { times } = await serviceOf(t, clock, [{ name: 'often', everySeconds: 900 }])
  await clock.advance(31 * minute)
  t.strictSame(times('often'), ['2026-05-01T10:15:00.000Z', '2026-05-01T10:30:00.000Z'])
})

for (const [missed, maxMissed] of [['once'], ['skip'], ['all'], ['all', 2]] as const)
  for (const outage of [0, 1, 3, 200])
    t.test(`after an outage of ${outage} runs, missed ${missed} ${maxMissed ?? ''} starts what it says`, async (t) => {
      const start = Date.parse('2026-05-01T12:00Z')
      const clock = testClock(start)
      const queue = memoryWorkQueue({ clock })
      t.teardown(() => queue.close(0))
      const store = memoryJobStore()
      const options = { ...nightly, zone: 'UTC', missed, maxMissed }
      const first = await serviceOf(t, clock, [options], { queue, store })
      await clock.advance(day)
      await first.close()
      await clock.jump(outage * day)
      const { times, counted } = await serviceOf(t, clock, [options], { queue, store })
      await clock.advance(minute)
      const all = Array.from({ length: outage }, (_, index) => new Date(Date.parse('2026-05-03T02:30Z') + index * day).toISOString())
      const expected = missed === 'skip' ? [] : all.slice(-(missed === 'once' ? 1 : (maxMissed ?? 100)))
      // A run waits for the last one, which is checked each second.
      await clock.advance(300_000)
      t.strictSame(times('nightly'), expected)
      t.equal(counted.filter((outcome) => outcome === 'late').length, expected.length)
      t.equal(counted.includes('missed'), outage > expected.length)
      await clock.advance(day)
      t.equal(times('nightly').length, expected.length + 1, 'and continues')
    })

for (const [overlap, expected] of [
  ['skip', ['10:00', '10:40']],
  ['wait', ['10:00', '10:30', '10:40']],
  ['allow', ['10:00', '10:10', '10:20', '10:30', '10:40']]
] as const)
  t.test(`overlap ${overlap}, with a run that takes longer than its interval`, async (t) => {
    const clock = testClock(Date.parse('2026-05-01T09:59Z'))
    const slow = Promise.withResolvers<void>()
    let isFirst = true
    const { times, app } = await serviceOf(t, clock, [{ name: 'often', everySeconds: 600, overlap }], {
      async handler() {
        if (!isFirst) return
        isFirst = false
        await slow.promise
      }
    })
    const store = app.jobs.schedules
    for (let index = 0; index < 3; index += 1) await pass(clock, 10 * minute)
    await pass(clock, 5 * minute)
    slow.resolve()
    await pass(clock, minute)
    await clock.advance(10 * minute)
    t.strictSame(
      times('often').toSorted(),
      expected.map((time) => `2026-05-01T${time}:00.000Z`)
    )
    t.equal((await store.list())[0]?.name, 'often')
  })

/** Moves the clock while a handler runs, for which `advance` would wait. */
async function pass(clock: TestClock, milliseconds: number) {
  for (let left = milliseconds; left > 0; left -= minute) {
    await clock.jump(minute)
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  }
}

t.test('a clock that was ahead and is corrected neither stops a schedule nor runs an occurrence twice', async (t) => {
  const start = Date.parse('2026-05-01T12:00Z')
  const clock = testClock(start)
  let offset = 0
  const shifted: TestClock = { ...clock, now: () => clock.now() + offset }
  const { times } = await serviceOf(t, shifted, [{ ...nightly, zone: 'UTC' }])
  await clock.advance(day)
  offset = 3650 * day
  await clock.advance(2 * minute)
  offset = 0
  await clock.advance(2 * day)
  const [first, , ...others] = times('nightly')
  t.equal(first, '2026-05-02T02:30:00.000Z')
  t.strictSame(others, ['2026-05-03T02:30:00.000Z', '2026-05-04T02:30:00.000Z'])
  offset = -2 * day
  await clock.advance(2 * day)
  t.equal(times('nightly').length, 4, 'what ran does not run again')
  await clock.advance(day)
  t.equal(times('nightly').length, 5)
})

t.test('a changed timing counts from now, another start does not, and a schedule that is not declared stops', async (t) => {
  const clock = testClock(Date.parse('2026-05-01T12:00Z'))
  const queue = memoryWorkQueue({ clock })
  t.teardown(() => queue.close(0))
  const store = memoryJobStore()
  const first = await serviceOf(
    t,
    clock,
    [
      { ...nightly, zone: 'UTC' },
      { name: 'old', cron: '0 * * * *', zone: 'UTC' }
    ],
    { queue, store }
  )
  await first.close()
  await clock.jump(day)
  const second = await serviceOf(t, clock, [{ ...nightly, zone: 'UTC', cron: '0 2 * * *' }], { queue, store })
  await clock.advance(day)
  t.strictSame(
    second.runs.map(({ at }) => at),
    ['2026-05-03T02:00:00.000Z']
  )
  t.strictSame(
    (await second.app.jobs.schedules.list()).map(({ name }) => name),
    ['nightly', 'old']
  )
  await clock.jump(31 * day)
  await clock.advance(2 * minute)
  t.strictSame(
    (await second.app.jobs.schedules.list()).map(({ name }) => name),
    ['nightly'],
    'it is deleted after 30 days'
  )
  await second.close()
  await clock.jump(day)
  const third = await serviceOf(t, clock, [{ ...nightly, zone: 'UTC' }], { queue, store })
  await clock.advance(minute)
  t.strictSame(third.runs, [], 'nothing is missed before the new timing')
})

t.test('operators pause, resume and run a schedule', async (t) => {
  const clock = testClock(Date.parse('2026-05-01T12:00Z'))
  const { app, times } = await serviceOf(t, clock, [{ ...nightly, zone: 'UTC' }])
  const { schedules } = app.jobs
  for (const action of ['pause', 'resume', 'run'] as const) t.equal(await schedules[action]('unknown'), false)
  t.equal(await schedules.pause('nightly'), true)
  await clock.advance(2 * day)
  t.strictSame(times('nightly'), [])
  t.equal(await schedules.run('nightly'), true)
  await clock.advance(1000)
  t.strictSame(times('nightly'), ['2026-05-03T12:00:00.000Z'])
  await schedules.resume('nightly')
  await clock.advance(day)
  t.strictSame(times('nightly'), ['2026-05-03T12:00:00.000Z', '2026-05-04T02:30:00.000Z'])
  const [listed] = await schedules.list()
  t.match(listed, { isPaused: false, lastJob: { state: 'completed' }, nextAt: Date.parse('2026-05-05T02:30Z'), timing: '30 2 * * * UTC' })
})

t.test('operators read the age, the duration and the failure of the last run, and the time until the next', async (t) => {
  const clock = testClock(Date.parse('2026-06-01T00:00:30Z'))
  let fails = false
  const handler = async () => {
    if (fails) throw new ApiError(409, 'DONE_ALREADY', 'It was done already.')
  }
  const { app } = await serviceOf(t, clock, [{ name: 'hourly', everySeconds: 3600 }], { handler })
  const read = async () => {
    const found: Record<string, number> = {}
    for (const gauges of contributions(app, 'gauges'))
      for (const { metric, value, attributes } of await gauges.read())
        if (attributes?.['schedule.name'] === 'hourly') found[metric.name.replace('concordat.schedule.', '')] = Math.round(value)
    return found
  }
  t.strictSame(await read(), { 'next_run.delay': 3570 }, 'before the first run')
  await clock.advance(65 * minute)
  t.match(await read(), { 'last_run.age': 330, 'next_run.delay': 3270, 'last_run.failed': 0 })
  fails = true
  await clock.advance(60 * minute)
  t.match(await read(), { 'last_run.age': 330, 'last_run.failed': 1 })
  await app.jobs.schedules.pause('hourly')
  t.notOk('next_run.delay' in (await read()), 'a paused schedule has no next run')
})

t.test('an input that becomes wrong passes, and the next run starts', async (t) => {
  const clock = testClock(Date.parse('2026-05-01T12:00Z'))
  const queue = memoryWorkQueue({ clock })
  const app = Fastify()
  await app.register(jobs, { queue })
  t.teardown(async () => {
    await app.close()
    await queue.close(0)
  })
  const days: unknown[] = []
  const job = defineJob<{ day: string }>({
    name: 'report',
    input: Type.Object({ day: Type.String() }),
    handler: async ({ day }) => void days.push(day)
  })
  app.jobs.schedule(job, { ...nightly, input: ({ localDate }) => ({ day: localDate === '2026-05-03' ? (7 as never) : localDate }) })
  await app.ready()
  await clock.advance(3 * day)
  t.strictSame(days, ['2026-05-02', '2026-05-04'])
})

t.test('a job that a schedule started has no routes, and no client is its owner', async (t) => {
  const clock = testClock(Date.parse('2026-05-01T12:00Z'))
  const queue = memoryWorkQueue({ clock })
  const app = Fastify()
  await app.register(jobs, { queue, owner: () => '', publicUrl: 'https://api.example.com' })
  t.teardown(async () => {
    await app.close()
    await queue.close(0)
  })
  const job = defineJob<null>({ name: 'clean', input: z.toJSONSchema(z.null()), handler: async () => {} })
  app.jobs.schedule(job, nightly)
  const served = defineJob<null>({ name: 'served', input: {}, handler: async () => {} })
  app.jobs.schedule(served, { name: 'other', everySeconds: 3600 })
  app.jobs.serve(served, '/served')
  app.post('/cleans', async (_request, reply) => reply.accepted(job, null))
  await app.ready()
  await clock.advance(day)
  for (const { lastJob } of await app.jobs.schedules.list()) t.equal((await app.inject(`/served/${lastJob?.id}`)).statusCode, 404)
  t.throws(() => app.jobs.schedule(job, { name: 'late', everySeconds: 60 }), /was added after the start/)
})

t.test('without a worker, nothing is scheduled', async (t) => {
  const clock = testClock(Date.parse('2026-05-01T12:00Z'))
  const { app, runs } = await serviceOf(t, clock, [nightly], { worker: false })
  await clock.advance(2 * day)
  t.strictSame([runs, await app.jobs.schedules.list()], [[], []])
})

t.test('an outage of the store is logged, and the schedule continues', async (t) => {
  const clock = testClock(Date.parse('2026-05-01T12:00Z'))
  const memory = memoryJobStore()
  const { schedules } = memory
  if (schedules === undefined) throw new Error('no schedules')
  let isDown = false
  const list: typeof schedules.list = async (names) => {
    if (isDown) throw new Error('down')
    return schedules.list(names)
  }
  const queue = memoryWorkQueue({ clock })
  t.teardown(() => queue.close(0))
  const { times } = await serviceOf(t, clock, [{ ...nightly, zone: 'UTC' }], {
    queue,
    store: { ...memory, schedules: { ...schedules, list } }
  })
  isDown = true
  await clock.advance(day)
  t.strictSame(times('nightly'), [])
  isDown = false
  await clock.advance(minute)
  t.strictSame(times('nightly'), ['2026-05-02T02:30:00.000Z'])
})

const wrong: readonly (readonly [object, RegExp])[] = [
  [{ cron: '61 2 * * *' }, /options\.cron "61 2 \* \* \*" is invalid: Invalid value for minute: 61\./],
  [{ cron: '*/0 2 * * *' }, /is invalid: .*illegal stepping/],
  [{ cron: '1,,2 2 * * *' }, /is invalid/],
  [{ cron: '5-1 2 * * *' }, /is invalid/],
  [{ cron: '0 0 2 * * *' }, /must have five fields/],
  [{ cron: '@daily' }, /must have five fields/],
  [{ cron: '' }, /must have five fields/],
  [{ cron: 7 }, /must have five fields/],
  [{ cron: '? 2 * * *' }, /has "\?" as its minute/],
  [{ cron: '0 2 13 * 5' }, /has a day of the month and a day of the week/],
  [{ cron: '0 2 30 2 *' }, /never occurs/],
  [{ zone: undefined }, /options\.zone is missing/],
  [{ zone: '' }, /options\.zone "" is not a time zone/],
  [{ zone: '+02:00' }, /is not a time zone/],
  [{ zone: 'CET' }, /is not a time zone/],
  [{ zone: 'Mars/Olympus' }, /is not a time zone/],
  [{ zone: 5 }, /is not a time zone/],
  [{ cron: undefined }, /must have either cron/],
  [{ everySeconds: 60 }, /must have either cron/],
  [{ cron: undefined, everySeconds: 60 }, /an interval has no time zone/],
  [{ cron: undefined, zone: undefined, everySeconds: 0 }, /everySeconds must be an integer/],
  [{ name: 'Nightly Report' }, /schedule name "Nightly Report" is invalid/],
  [{ name: undefined }, /name/],
  [{ missed: 'always' }, /options\.missed/],
  [{ missed: 'all', overlap: 'skip' }, /each run starts/],
  [{ maxMissed: 3 }, /maxMissed is set, but missed is "once"/],
  [{ overlap: 'never' }, /options\.overlap/],
  [{ input: () => ({ day: 7 }) }, /options\.input returns a value that the job "report" refuses: input\.day must be of type string\./],
  [{ input: undefined }, /refuses: input must be of type object/],
  [{ timezone: 'UTC' }, /options\.timezone is unknown/]
]

for (const [kind, schema] of [
  ['TypeBox', Type.Object({ day: Type.String() })],
  ['Zod', z.toJSONSchema(z.object({ day: z.string() }))]
] as const)
  t.test(`one line at the start for each wrong option, with a schema of ${kind}`, async (t) => {
    const store = memoryJobStore()
    const app = Fastify()
    t.teardown(() => app.close())
    const clock = testClock()
    await app.register(jobs, { queue: memoryWorkQueue({ clock }), store, owner: () => 'ada' })
    const job = defineJob<{ day: string }>({ name: 'report', input: schema, handler: async () => {} })
    const options = { ...nightly, input: ({ localDate }: Occurrence) => ({ day: localDate }) }
    for (const [change, message] of wrong) {
      const error = errorOf(() => app.jobs.schedule(job, { ...options, ...change }))
      t.match(error, message)
      t.match(error, /^jobs: (schedule|the schedule name) ".*[.]$/)
      t.notMatch(error, '\n')
    }
    app.jobs.schedule(job, options)
    t.match(
      errorOf(() => app.jobs.schedule(job, options)),
      /the schedule name "nightly" is used twice/
    )
    t.strictSame(await store.schedules?.list(), [], 'nothing is stored')
  })

t.test('refuses a store without schedules', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  const { schedules: _, ...store } = memoryJobStore()
  await app.register(jobs, { queue: memoryWorkQueue(), store, owner: () => 'ada' })
  const job = defineJob<null>({ name: 'report', input: {}, handler: async () => {} })
  t.match(
    errorOf(() => app.jobs.schedule(job, nightly)),
    /options\.store cannot store schedules/
  )
})

function errorOf(run: () => void) {
  try {
    run()
  } catch (error) {
    return (error as Error).message
  }
  return 'no error'
}
