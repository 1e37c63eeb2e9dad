// When the faults happen: in an order and at times that the seed decides.
import { setTimeout as delay } from 'node:timers/promises'
import { type Fault, faultsOf } from './faults.ts'
import type { Wire } from './wire.ts'
import type { World } from './world.ts'

/** A release that replaces the processes one after another, and the way back. */
function release({ fleet }: World, way: 'out' | 'back'): Fault {
  return {
    name: `release rolled ${way}`,
    async run() {
      for (const member of fleet.members) await fleet.replace(member)
    }
  }
}

/** Runs faults one after another until the end: the release first, then all others, again and again in another order. */
export async function causeFaults(world: World, wire: Wire, runSeconds: number): Promise<void> {
  const { recorder } = world
  const faults = faultsOf(world, wire, Math.min(1, runSeconds / 1800))
  const lastSecond = recorder.now + runSeconds * 0.93
  const order = (all: readonly Fault[]) =>
    all
      .map((fault) => ({ fault, place: world.random() }))
      .sort((a, b) => a.place - b.place)
      .map(({ fault }) => fault)
  let queue: Fault[] = [release(world, 'out'), release(world, 'back'), ...order(faults)]
  // All of them once, also when the machine is slow; what the time allows after that.
  const pauseSeconds = Math.min(30, (runSeconds * 0.35) / queue.length)
  const accompanied: Promise<void>[] = []
  for (let round = 1; queue.length > 0; round += 1) {
    for (const fault of queue) {
      if (round > 1 && recorder.now > lastSecond) break
      await delay(pauseSeconds * 1000 * (0.5 + world.random()))
      const running = recorder
        .during(fault.name, () => fault.run(world))
        .catch((error: unknown) => world.evidence.fail('the soak itself has no errors', `${fault.name}: ${String((error as Error).stack)}`))
      if (fault.isAccompanied) accompanied.push(running)
      else await running
    }
    queue = recorder.now > lastSecond ? [] : order(faults)
  }
  await Promise.all(accompanied)
}
