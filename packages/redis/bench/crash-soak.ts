// Kills processes that use the server of TEST_REDIS_URL:
// node --conditions=@concordat/source packages/redis/bench/crash-soak.ts [kills] [keys] [processes] [lease in ms] [processes left running]
import { soakRedis } from '../test/soak/soak.ts'

const [kills = 300, keys = 10_000, processes = 4, leaseMs = 1000, minUp = processes] = process.argv.slice(2).map(Number)
const redisUrl = process.env['TEST_REDIS_URL']
if (redisUrl === undefined) throw new Error('Set TEST_REDIS_URL to the address of a Redis server.')
// Ctrl-C ends the run with a report of what was done so far.
const early = new AbortController()
process.once('SIGINT', () => early.abort())
const onProgress = (killed: number, responded: number) => {
  if (killed % 10 === 0) console.log(`${killed} kills, ${responded} keys`)
}
console.log(
  JSON.stringify(await soakRedis({ redisUrl, leaseMs, processes, kills, keys, minUp, onProgress, signal: early.signal }), null, 2)
)
