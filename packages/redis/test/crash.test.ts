import { ownRedis } from '@concordat/test-harness/own-redis'
import { scaled } from '@concordat/test-harness/scale'
import t from 'tap'
import { onServer, server } from './server.ts'
import { soakRedis } from './soak/soak.ts'

t.test('processes are killed while they work: each key is done and has one answer, and none is stuck', onServer, async (t) => {
  const load = { redisUrl: server, leaseMilliseconds: 1000, processes: 2, kills: scaled(1, 4), keys: scaled(60, 200), leastUp: 1 }
  const report = await soakRedis(load)
  t.match(report, { kills: load.kills, keysDone: load.keys, divergent: 0 })
  // What a process had done when it was killed is done again, and also when it was paused for longer than its lease: at least once.
  t.comment(JSON.stringify(report))
})

t.test('Redis crashes and comes back: nothing is lost or done twice, and the processes go on', async (t) => {
  const own = await ownRedis()
  if (own === undefined) return t.comment('not run: Redis is not installed here')
  t.teardown(() => own.stop())
  const restarts = { count: 1, restart: () => own.restart() }
  const keys = scaled(60, 200)
  const report = await soakRedis({ redisUrl: own.url, leaseMilliseconds: 30_000, processes: 2, kills: 0, keys, restarts })
  t.match(report, { keysDone: keys, doubles: 0, divergent: 0 })
  return t.comment(JSON.stringify(report))
})
