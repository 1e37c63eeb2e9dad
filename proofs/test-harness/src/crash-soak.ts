import { setTimeout as delay } from 'node:timers/promises'
import { type Fleet, type FleetProgram, startFleet } from './fleet.ts'
import { type KeyedRequest, type ResponseContent, sendUntilDone } from './send-until-done.ts'
import { type Spread, spreadOf } from './spread.ts'

const servedBeforeKill = 20
const clients = 16
// One in this many keys is sent by two clients at the same time, so that one of them waits for the other.
const keysPerTwin = 4
// The longest pause between two keys of a client: a machine at full load would measure its own queues.
const thoughtMs = 200

/** Options of {@link crashSoak}. */
export interface CrashSoak {
  readonly program: FleetProgram
  readonly processes: number
  readonly kills: number
  readonly keys: number
  /** Returns the request for the key with this number; every call must return the same request. */
  readonly request: (key: string, number: number) => KeyedRequest
  /**
   * How many processes must be up when one is killed. With fewer than all of them, kills overlap: a request may be killed again, or find
   * no process up, and its takeover then takes as long as a start.
   * @default all
   */
  readonly minUp?: number | undefined
  /** Ends the soak early: the report then covers the keys and kills so far. */
  readonly signal?: AbortSignal | undefined
  /** Called after each kill. */
  readonly onProgress?: ((kills: number, responded: number) => void) | undefined
  /** Restarts a dependency of the service, such as its database, `count` times at even intervals, while the clients continue. */
  readonly restarts?: { readonly count: number; readonly restart: () => Promise<void> } | undefined
}

/** The result of a soak. The caller must count what the service has done. */
export interface CrashReport {
  readonly keys: number
  readonly kills: number
  /** Responses that differ from the first one for the key, in body or `Location`. */
  readonly divergent: number
  /** Requests that a killed process lost, and other broken connections. */
  readonly lost: number
  /** The number of responses with each status. */
  readonly statuses: Readonly<Record<string, number>>
  /** The times from the kill of a process to the success of the requests that it was handling. */
  readonly takeoverMs: Spread
  /** The duration of requests that no kill affected, for comparison. */
  readonly usualMs: Spread
  readonly seconds: number
}

/**
 * Kills processes of a service at random while clients send requests with keys and repeat them until they succeed; sends the request of
 * each key once more at the end. A process is killed in the middle of a request, after it has sent 20 responses, and started again
 * immediately.
 */
export async function crashSoak(soak: CrashSoak): Promise<CrashReport> {
  const fleet = await startFleet(soak.processes, soak.program)
  try {
    return await soakOn(fleet, soak)
  } finally {
    await fleet.stop()
  }
}

async function soakOn(fleet: Fleet, soak: CrashSoak): Promise<CrashReport> {
  const { keys, kills, request, minUp = soak.processes, signal } = soak
  const begun = performance.now()
  const first = new Map<string, ResponseContent>()
  const killedAt = new Map<string, number>()
  const statuses: Record<string, number> = {}
  const takeovers: number[] = []
  const usual: number[] = []
  const count = { next: 0, done: 0, killed: 0, divergent: 0, lost: 0 }

  await Promise.all([killer(), restarter(), ...Array.from({ length: clients }, client)])
  await repeatAll()
  return {
    keys: count.next,
    kills: count.killed,
    divergent: count.divergent,
    lost: count.lost,
    statuses,
    takeoverMs: spreadOf(takeovers),
    usualMs: spreadOf(usual),
    seconds: Math.round((performance.now() - begun) / 1000)
  }

  function isOver() {
    return signal?.aborted === true
  }

  function isKilling() {
    return !isOver() && count.killed < kills
  }

  function up() {
    return fleet.members.filter(({ isUp }) => isUp)
  }

  // The number of keys that belongs to this many kills.
  function keysFor(killed: number) {
    return (keys * killed) / kills
  }

  async function client() {
    while (!isOver() && (count.next < keys || count.killed < kills)) {
      // Once all keys have been sent, the kills hit retries of them.
      const number = count.next < keys ? count.next++ : Math.floor(Math.random() * keys)
      const touched: { since?: number | undefined } = {}
      const requests = [call(number, touched)]
      if (number % keysPerTwin === 0) requests.push(call(number, touched))
      await Promise.all(requests)
      count.done += 1
      await delay(Math.random() * thoughtMs)
      // The keys must last for all kills: while too few processes are up for the next kill, clients that are ahead wait.
      while (isKilling() && count.done > keysFor(count.killed) && up().length < minUp) await delay(20)
    }
  }

  async function call(number: number, touched: { since?: number | undefined }) {
    const key = `key-${number}`
    const requested = performance.now()
    const content = await sendUntilDone(fleet, key, request(key, number), {
      responded(status) {
        statuses[status] = (statuses[status] ?? 0) + 1
      },
      lost({ url }) {
        count.lost += 1
        const at = killedAt.get(url)
        if (at !== undefined) touched.since ??= at
      }
    })
    if (touched.since === undefined) usual.push(performance.now() - requested)
    else takeovers.push(performance.now() - touched.since)
    const before = first.get(key)
    if (before === undefined) first.set(key, content)
    else if (before.body !== content.body || before.location !== content.location) count.divergent += 1
  }

  async function killer() {
    while (isKilling()) {
      const ready = up().filter(({ served, underWay }) => served >= servedBeforeKill && underWay > 0)
      const victim = ready[Math.floor(Math.random() * ready.length)]
      // A kill happens only after the keys that belong to the kills before it are done.
      if (victim === undefined || up().length < minUp || count.done < keysFor(count.killed)) {
        await delay(5)
        continue
      }
      killedAt.set(victim.url, performance.now())
      await fleet.kill(victim)
      count.killed += 1
      soak.onProgress?.(count.killed, count.done)
    }
  }

  async function restarter() {
    const { count: restarts, restart } = soak.restarts ?? { count: 0, restart: async () => {} }
    for (let n = 1; n <= restarts; n += 1) {
      while (!isOver() && count.done < (keys * n) / (restarts + 1)) await delay(5)
      await restart()
    }
  }

  async function repeatAll() {
    let next = 0
    const again = async () => {
      while (next < count.next) await call(next++, {})
    }
    await Promise.all(Array.from({ length: clients }, again))
  }
}
