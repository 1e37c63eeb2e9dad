// What the logs and the memory of the processes say.
import { createReadStream, existsSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { jsonOf } from './envelope.ts'
import { increment, quantile } from './recorder.ts'
import type { World } from './world.ts'

const errorLevel = 50
/** An error may be logged until this long after a fault: transactions, leases and pauses of receivers end later. */
const aftermathSeconds = 25
/** The service writes a repeated error once more, with their number, at the end of its minute. */
const repeatSeconds = 65
/** 5 s of DRAIN_SECONDS, 9 s of `serve`, and a second more. */
const maxStopMs = 15_000
const warmUpSeconds = 120
const maxGrowth = 1.1
const minGrowthBytes = 25 * 2 ** 20

interface Line {
  readonly level?: number
  readonly time?: number
  readonly msg?: string
  readonly repeats?: number
  readonly err?: { readonly statusCode?: number; readonly code?: string; readonly message?: string }
  readonly res?: { readonly statusCode?: number }
}

export async function checkLogs(world: World, folder: string, secrets: ReadonlySet<string>): Promise<void> {
  const { evidence, recorder, fleet } = world
  const beginEpoch = Date.now() - recorder.now * 1000
  const messages = new Map<string, number>()
  let lines = 0
  for (const file of [
    ...fleet.members.map(({ log }) => log),
    join(folder, 'nginx.log'),
    join(folder, 'postgres.log'),
    join(folder, 'redis.log')
  ]) {
    if (!existsSync(file)) continue
    for await (const text of createInterface(createReadStream(file))) {
      lines += 1
      for (const [word] of text.matchAll(/[\w+/=.-]{14,}/g))
        if (secrets.has(word))
          evidence.fail(
            'no secret is in a log',
            `${file.split('/').at(-1)}: ${word.slice(0, 6)}… in ${text.replaceAll(word, '…').slice(0, 300)}`
          )
      if (/Bearer [\w.-]{10}|authorization":"(?!\[)/i.test(text)) evidence.fail('no secret is in a log', text.slice(0, 300))
      if (file.includes('service-')) checkLine(text)
    }
  }
  evidence.check('no secret is in a log', `${secrets.size} secrets in ${lines} lines`)
  const errors = [...messages.values()].reduce((all, one) => all + one, 0)
  evidence.check('a line of level error has a fault as its cause', `${errors} lines`)
  for (const [message, count] of [...messages].sort((a, b) => b[1] - a[1]).slice(0, 12))
    recorder.notes.push(`Logged ${count} times as an error: ${message}`)

  function checkLine(text: string) {
    const line = jsonOf(text) as Line | undefined
    if (line === undefined) {
      if (!/^(Orders service at|Cannot start|killed by timeout)/.test(text)) evidence.fail('every line of the log is JSON', text)
      return
    }
    if ((line.level ?? 0) < errorLevel) return
    const second = ((line.time ?? 0) - beginEpoch) / 1000
    increment(messages, `${line.msg} (${line.err?.code ?? line.err?.message ?? '–'})`)
    const status = line.res?.statusCode ?? line.err?.statusCode ?? 500
    if (status < 500) evidence.fail('no line of level error is caused by a client', text)
    else if (!isOfPoison(line) && !recorder.isExplained(second, aftermathSeconds + (line.repeats === undefined ? 0 : repeatSeconds)))
      evidence.fail('a line of level error has a fault as its cause', `${second.toFixed(1)} s: ${text}`)
  }
}

/** Server errors that clients saw without a fault. A process that has too much to do may refuse requests. */
export function checkServerErrors({ recorder, evidence }: World): void {
  const unexplained = recorder.serverErrors.filter(
    ({ at, what }) => !what.endsWith('SERVICE_OVERLOADED') && !recorder.isExplained(at, aftermathSeconds)
  )
  for (const { at, what } of unexplained) evidence.fail('a server error has a fault as its cause', `${at.toFixed(1)} s: ${what}`)
  evidence.check('a server error has a fault as its cause', `${recorder.serverErrors.length} responses`)
}

/** How processes ended after SIGTERM. Requests of a busy machine may outlast the time of a stop; the process then ends with code 1. */
export function checkStops({ recorder, evidence, fleet }: World): void {
  for (const { slot, code, ms, endedAt } of fleet.stops) {
    const second = (endedAt - recorder.begin) / 1000
    const figures = `process ${slot}: code ${code} after ${(ms / 1000).toFixed(1)} s, at ${second.toFixed(1)} s`
    if (code === 0 && ms <= maxStopMs) continue
    if (recorder.isBusyAt(second)) recorder.notes.push(`The machine was too busy for a stop: ${figures}.`)
    else evidence.fail('SIGTERM ends a process with code 0 in time', figures)
  }
  evidence.check('SIGTERM ends a process with code 0 in time', `${fleet.stops.length} stops`)
}

/** Compares the memory of processes that ran long enough, in the third and in the last quarter: V8 takes minutes until its heap is as large as the load needs. */
export function checkMemory({ recorder, evidence, fleet }: World): void {
  let compared = 0
  for (const { slot, daemon } of fleet.members) {
    const readySecond = (daemon.readyAt - recorder.begin) / 1000
    const own = recorder.samples
      .filter(({ second }) => second > readySecond + warmUpSeconds)
      .map(({ memory }) => memory[slot])
      .filter((bytes) => bytes !== undefined)
    const part = Math.floor(own.length / 4)
    if (own.length < 48) continue
    compared += 1
    const [early, late] = [quantile(own.slice(-2 * part, -part), 0.5), quantile(own.slice(-part), 0.5)]
    const figures = `process ${slot}: ${megabytes(early)} and ${megabytes(late)} after ${Math.round((recorder.now - readySecond) / 60)} minutes`
    recorder.notes.push(`Memory of ${figures}.`)
    if (late > early * maxGrowth && late - early > minGrowthBytes) evidence.fail('memory stays level', figures)
  }
  evidence.check('memory stays level', compared === 0 ? 'not measured: no process ran for six minutes' : `${compared} processes`)
}

export function megabytes(bytes: number): string {
  return `${Math.round(bytes / 2 ** 20)} MB`
}

/** Whether the poison job caused the line: its last attempt is long after the fault. */
function isOfPoison({ err }: Line) {
  return err?.message?.includes('"poison"') === true
}
