import { setTimeout as delay } from 'node:timers/promises'
import { askUntilDone, type KeyedRequest, type Told } from './client.ts'
import { type Fleet, type FleetProgram, startFleet } from './fleet.ts'
import { type Spread, spreadOf } from './spread.ts'

const servedBeforeKill = 20
const clients = 16
// Of so many keys one is sent by two clients at once, so that one of them waits for the other.
const keysPerTwin = 4
// Between two keys of a client, at most: a machine with nothing to spare would measure its queues.
const thoughtMilliseconds = 200

/** What a soak does. */
export interface CrashSoak {
  readonly program: FleetProgram
  readonly processes: number
  readonly kills: number
  readonly keys: number
  /** The request of the key with this number: the same each time it is asked for. */
  readonly request: (key: string, number: number) => KeyedRequest
  /**
   * How many processes are up at least when one is killed. With fewer than all of them, kills meet each other: a request may be killed
   * again, or find nobody up, and its takeover is then as long as a start.
   * @default all
   */
  readonly leastUp?: number | undefined
  /** Ends it before its time: the report is then of the keys and kills so far. */
  readonly signal?: AbortSignal | undefined
  /** Is told after each kill. */
  readonly onProgress?: ((kills: number, answered: number) => void) | undefined
  /** Restarts what the service stands on, as its database, so many times at even distances, while the clients go on. */
  readonly restarts?: { readonly count: number; readonly restart: () => Promise<void> } | undefined
}

/** What came of it. What the service has done is for the caller to count. */
export interface CrashReport {
  readonly keys: number
  readonly kills: number
  /** Answers that differ from the first that the key was given, in body or `Location`. */
  readonly divergent: number
  /** Requests that a killed process took along, and other broken connections. */
  readonly lost: number
  /** How many answers there were of each status. */
  readonly statuses: Readonly<Record<string, number>>
  /** From the kill to the success of a request whose key was being worked on by the killed process. */
  readonly takeoverMilliseconds: Spread
  /** How long requests took that no kill has touched, to compare with. */
  readonly usualMilliseconds: Spread
  readonly seconds: number
}

/**
 * Kills processes of a service at random while clients send requests with keys and repeat them until they succeed; asks for each key once
 * more at the end. A process is killed in the middle of a request, once it has given 20 answers, and started again at once.
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
  const { keys, kills, request, leastUp = soak.processes, signal } = soak
  const begun = performance.now()
  const first = new Map<string, Told>()
  const killedAt = new Map<string, number>()
  const statuses: Record<string, number> = {}
  const takeovers: number[] = []
  const usual: number[] = []
  const count = { next: 0, done: 0, killed: 0, divergent: 0, lost: 0 }

  await Promise.all([killer(), restarter(), ...Array.from({ length: clients }, client)])
  await askForAllAgain()
  return {
    keys: count.next,
    kills: count.killed,
    divergent: count.divergent,
    lost: count.lost,
    statuses,
    takeoverMilliseconds: spreadOf(takeovers),
    usualMilliseconds: spreadOf(usual),
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

  // The share of the keys that belongs to so many kills.
  function keysFor(killed: number) {
    return (keys * killed) / kills
  }

  async function client() {
    while (!isOver() && (count.next < keys || count.killed < kills)) {
      // Once all keys are there, their retries are what is killed.
      const number = count.next < keys ? count.next++ : Math.floor(Math.random() * keys)
      const touched: { since?: number } = {}
      const asks = [ask(number, touched)]
      if (number % keysPerTwin === 0) asks.push(ask(number, touched))
      await Promise.all(asks)
      count.done += 1
      await delay(Math.random() * thoughtMilliseconds)
      // The keys are for all kills: while too few are up for the next, what is ahead waits.
      while (isKilling() && count.done > keysFor(count.killed) && up().length < leastUp) await delay(20)
    }
  }

  async function ask(number: number, touched: { since?: number }) {
    const key = `key-${number}`
    const asked = performance.now()
    const told = await askUntilDone(fleet, key, request(key, number), {
      answered(status) {
        statuses[status] = (statuses[status] ?? 0) + 1
      },
      lost({ url }) {
        count.lost += 1
        const at = killedAt.get(url)
        if (at !== undefined) touched.since ??= at
      }
    })
    if (touched.since === undefined) usual.push(performance.now() - asked)
    else takeovers.push(performance.now() - touched.since)
    const before = first.get(key)
    if (before === undefined) first.set(key, told)
    else if (before.body !== told.body || before.location !== told.location) count.divergent += 1
  }

  async function killer() {
    while (isKilling()) {
      const ready = up().filter(({ served, underWay }) => served >= servedBeforeKill && underWay > 0)
      const victim = ready[Math.floor(Math.random() * ready.length)]
      // Not sooner than the share of the keys that belongs to this kill.
      if (victim === undefined || up().length < leastUp || count.done < keysFor(count.killed)) {
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

  async function askForAllAgain() {
    let next = 0
    const again = async () => {
      while (next < count.next) await ask(next++, {})
    }
    await Promise.all(Array.from({ length: clients }, again))
  }
}
