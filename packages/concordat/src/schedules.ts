import type * as Jobs from '@concordat/postgres/jobs'
import { printable, Refusal } from 'create-concordat'
import { projectDatabase, projectModule, reasonOf } from './project-database.ts'

type ScheduleStore = NonNullable<ReturnType<(typeof Jobs)['postgresJobStore']>['schedules']>
type StoredSchedule = Awaited<ReturnType<ScheduleStore['list']>>[number]

// Each minute, one of the processes that declare a schedule notes it.
const maxSilenceMs = 300_000
// A job can be read for a week after its end.
const resultMs = 604_800_000

/** What the command does with a schedule. */
export type ScheduleAction = 'pause' | 'resume' | 'run'

/** Returns whether the text is an action of the command. */
export function isScheduleAction(text: string | undefined): text is ScheduleAction {
  return text === 'pause' || text === 'resume' || text === 'run'
}

/**
 * Lists the schedules in the database of `DATABASE_URL` or `DATA_DIR`, or pauses, resumes or runs one. Returns the lines to print. Throws a `Refusal` without
 * a database, without the table, or for an unknown schedule.
 */
export async function schedules(action: ScheduleAction | undefined, name: string, env = process.env): Promise<string> {
  const database = await projectDatabase('in which the service stores its schedules', env)
  try {
    const { postgresJobStore } = await projectModule<typeof Jobs>('jobs')
    const { schedules: store } = postgresJobStore(database.postgres)
    if (store === undefined) throw new Refusal('@concordat/postgres of this service has no schedules. Update it.')
    return action === undefined ? await listed(store, Date.now()) : await changed(store, action, name, Date.now())
  } catch (error) {
    if (error instanceof Refusal) throw error
    throw new Refusal(`The schedules cannot be read or changed: ${reasonOf(error)} Their table comes from a start of the service.`)
  } finally {
    await database.close()
  }
}

async function listed(store: ScheduleStore, now: number) {
  const all = await store.list()
  if (all.length === 0) return 'There is no schedule. app.jobs.schedule adds one.'
  return all.map((schedule) => `${printable(schedule.name)} (${printable(schedule.timing)}): ${stateOf(schedule, now)}`).join('\n')
}

function stateOf(schedule: StoredSchedule, now: number) {
  const { isPaused, nextAt, requestedAt } = schedule
  const next = isPaused ? 'paused' : `next ${timeText(nextAt)}`
  const requested = requestedAt === undefined ? '' : ', a run was requested'
  const isSeen = schedule.seenAt >= now - maxSilenceMs
  return `${next}${requested}${lastOf(schedule)}${isSeen ? '' : `; no process has declared it since ${timeText(schedule.seenAt)}`}`
}

function lastOf({ lastAt, lastJob }: StoredSchedule) {
  if (lastAt === undefined) return ', never ran'
  if (lastJob === undefined) return `, last ${timeText(lastAt)}`
  const { state, createdAt, expiresAt } = lastJob
  const seconds = expiresAt === undefined ? '' : ` after ${((expiresAt - resultMs - createdAt) / 1000).toFixed(1)} s`
  return `, last ${timeText(lastAt)}: ${state}${seconds}`
}

async function changed(store: ScheduleStore, action: ScheduleAction, name: string, now: number) {
  const [schedule] = await store.list([name])
  const isKnown = await store.change(name, action === 'run' ? { requestedAt: now } : { isPaused: action === 'pause' })
  if (schedule === undefined || !isKnown) throw new Refusal(`There is no schedule "${printable(name)}". npx concordat schedules lists all.`)
  if (action === 'pause') return `${name} is paused.`
  if (action === 'resume') return `${name} continues with the next run.`
  const isSeen = schedule.seenAt >= now - maxSilenceMs
  return `${name} starts ${isSeen ? 'within seconds' : 'when a process that declares it runs'}, or when its last run has ended.`
}

function timeText(time: number) {
  return new Date(time).toISOString()
}
