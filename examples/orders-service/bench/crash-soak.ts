// Kills processes of the service while clients place orders, on an empty database:
// DATABASE_URL=postgres://… node --conditions=@concordat/source examples/orders-service/bench/crash-soak.ts [kills] [keys] [processes] [processes left running]
import { soakOrders } from '../test/repository/soak.ts'

const [kills = 300, keys = 10_000, processes = 4, minUp = processes] = process.argv.slice(2).map(Number)
const databaseUrl = process.env['DATABASE_URL']
if (databaseUrl === undefined) throw new Error('Set DATABASE_URL to the address of an empty database.')
// Ctrl-C ends the run with a report of the work up to then.
const early = new AbortController()
process.once('SIGINT', () => early.abort())
const onProgress = (killed: number, responded: number) => {
  if (killed % 10 === 0) console.log(`${killed} kills, ${responded} keys`)
}
console.log(JSON.stringify(await soakOrders(databaseUrl, { processes, kills, keys, minUp, onProgress, signal: early.signal }), null, 2))
