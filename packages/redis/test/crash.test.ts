import { ownRedis } from '@concordat/test-harness/own-redis'
import { scaled } from '@concordat/test-harness/scale'
import t from 'tap'
import { onServer, server } from './server.ts'
import { soakRedis } from './soak/soak.ts'

t.test('completes each key with one response, and leaves none locked, when processes are killed', onServer, async (t) => {
  const load = { redisUrl: server, leaseMs: 1000, processes: 2, kills: scaled(1, 4), keys: scaled(60, 200), minUp: 1 }
  const report = await soakRedis(load)
  t.match(report, { kills: load.kills, keysDone: load.keys, divergent: 0 })
  // Work is repeated when a process was killed after doing it, or was paused for longer than its lease: at least once.
  t.comment(JSON.stringify(report))
})

t.test('loses and repeats nothing when Redis crashes and restarts, and the processes continue', async (t) => {
  const own = await ownRedis()
  if (own === undefined) return t.comment('not run: Redis is not installed here')
  t.teardown(() => own.stop())
  const restarts = { count: 1, restart: () => own.restart() }
  const keys = scaled(60, 200)
  const report = await soakRedis({ redisUrl: own.url, leaseMs: 30_000, processes: 2, kills: 0, keys, restarts })
  t.match(report, { keysDone: keys, doubles: 0, divergent: 0 })
  return t.comment(JSON.stringify(report))
})
