import type { readQueueSettings } from '@concordat/work-queue'
import type { Pump } from './pump.ts'

/** A queue that this process has defined, and its worker. */
export interface Line {
  readonly settings: ReturnType<typeof readQueueSettings>
  pump?: Pump | undefined
}

/** The queues that this process has defined, by name. */
export type Lines = Map<string, Line>

/** Returns a queue. Throws a `TypeError` for one that is not defined. */
export function lineOf(lines: Lines, name: string): Line {
  const line = lines.get(name)
  if (line === undefined) throw new TypeError(`work-queue: the queue "${name}" is not defined. Call define("${name}") at startup.`)
  return line
}

/** Returns whether a worker of this process does anything. */
export function isBusy(lines: Lines): boolean {
  return [...lines.values()].some(({ pump }) => pump?.isBusy() ?? false)
}
