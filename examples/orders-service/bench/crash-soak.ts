// Processes of the service are killed while clients order, on an empty database:
// DATABASE_URL=postgres://… node --conditions=@concordat/source examples/orders-service/bench/crash-soak.ts [kills] [keys] [processes] [how many are left up]
import { soakOrders } from '../test/soak.ts'

const [kills = 300, keys = 10_000, processes = 4, leastUp = processes] = process.argv.slice(2).map(Number)
const databaseUrl = process.env['DATABASE_URL']
if (databaseUrl === undefined) throw new Error('Set DATABASE_URL to the address of an empty database.')
// Ctrl-C: the report of what was done so far.
const early = new AbortController()
process.once('SIGINT', () => early.abort())
const onProgress = (killed: number, answered: number) => {
  if (killed % 10 === 0) console.log(`${killed} kills, ${answered} keys`)
}
console.log(JSON.stringify(await soakOrders(databaseUrl, { processes, kills, keys, leastUp, onProgress, signal: early.signal }), null, 2))
