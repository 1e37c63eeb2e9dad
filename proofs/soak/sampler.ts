// Measures processes and queues at the end of each slice.
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { sliceSeconds } from './recorder.ts'
import type { World } from './world.ts'

interface Queues {
  readonly waiting: number
  readonly oldest: number
  readonly dead: number
}

const queues = `SELECT count(*)::integer AS waiting, coalesce(max(extract(epoch FROM now() - created_on)), 0)::float AS oldest,
  (SELECT coalesce(sum(n_dead_tup), 0)::integer FROM pg_stat_user_tables WHERE schemaname IN ('concordat', 'concordat_queue')) AS dead
  FROM concordat_queue.job WHERE state IN ('created', 'retry', 'active') AND name NOT LIKE '\\_\\_%'`

export async function sample(world: World, signal: AbortSignal): Promise<void> {
  const { recorder, fleet, cluster, receivers } = world
  const delays = monitorEventLoopDelay()
  delays.enable()
  while (!signal.aborted) {
    await delay(sliceSeconds * 1000 - ((performance.now() - recorder.begin) % (sliceSeconds * 1000)))
    const [row] = await cluster.query<Queues>(queues).catch(() => [])
    recorder.samples.push({
      second: recorder.now,
      lateMs: delays.percentile(99) / 1e6,
      memory: fleet.members.map((member) => fleet.memoryOf(member)),
      deliveries: receivers.totals.delivered,
      ...(row && { waiting: row.waiting, oldestSeconds: row.oldest, deadRows: row.dead })
    })
    delays.reset()
  }
}
