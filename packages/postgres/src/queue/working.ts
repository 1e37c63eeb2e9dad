import { readWorkOptions, type WorkQueue } from '@concordat/work-queue'
import { announcer } from './announcer.ts'
import type { Engine } from './engine.ts'
import { type Line, type Lines, lineOf } from './lines.ts'
import { startPump } from './pump.ts'

/** Creates the functions that start, wake and stop workers. */
export function workers(engine: Engine, lines: Lines): Pick<WorkQueue, 'work' | 'kick' | 'close'> {
  const others = announcer(engine, (name) => lines.get(name)?.pump?.kick())

  return {
    work(name, handler, given) {
      const options = readWorkOptions(given)
      const line = lineOf(lines, name)
      if (line.pump !== undefined)
        throw new TypeError(`work-queue: this process already has a worker for the queue "${name}". Stop that worker first.`)
      line.pump = startPump({ ...engine, name, leaseSeconds: line.settings.leaseSeconds }, handler, options)
      others?.listen()
      return (graceSeconds) => stop(line, graceSeconds)
    },
    kick(name) {
      const { pump } = lineOf(lines, name)
      pump?.kick()
      // A worker with a free slot takes the job itself.
      if (pump?.hasFreeSlot() !== true) others?.announce(name)
    },
    async close(graceSeconds) {
      await Promise.all([...lines.values()].map((line) => stop(line, graceSeconds)))
      await others?.close()
    }
  }
}

async function stop(line: Line, graceSeconds = 10) {
  const { pump } = line
  await pump?.stop(graceSeconds)
  if (line.pump === pump) line.pump = undefined
}
