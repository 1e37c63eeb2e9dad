// Crashes and restarts Redis while the service runs, on a server that this script starts:
// node --conditions=@concordat/source packages/redis/bench/restart-soak.ts [restarts] [keys] [processes]
import { ownRedis } from '@concordat/test-harness/own-redis'
import { soakRedis } from '../test/soak/soak.ts'

const [count = 20, keys = 10_000, processes = 4] = process.argv.slice(2).map(Number)
const own = await ownRedis()
if (own === undefined) throw new Error('Redis is not installed on this machine.')
const restart = async () => {
  await own.restart()
  console.log('Redis has restarted')
}
const restarts = { count, restart }
const report = await soakRedis({ redisUrl: own.url, leaseMs: 30_000, processes, kills: 0, keys, restarts }).finally(() => own.stop())
console.log(JSON.stringify(report, null, 2))
