// Kills processes that use the server of TEST_DATABASE_URL:
// node --conditions=@concordat/source packages/postgres/bench/crash-soak.ts [kills] [keys] [processes] [processes left running]
import { randomUUID } from 'node:crypto'
import { soakPostgres } from '../test/soak/soak.ts'

const [kills = 300, keys = 10_000, processes = 4, minUp = processes] = process.argv.slice(2).map(Number)
const databaseUrl = process.env['TEST_DATABASE_URL']
if (databaseUrl === undefined) throw new Error('Set TEST_DATABASE_URL to the address of a PostgreSQL server.')
const schema = `concordat_soak_${randomUUID().slice(0, 8)}`
// Ctrl-C ends the run with a report of what was done so far.
const early = new AbortController()
process.once('SIGINT', () => early.abort())
const onProgress = (killed: number, responded: number) => {
  if (killed % 10 === 0) console.log(`${killed} kills, ${responded} keys`)
}
console.log(
  JSON.stringify(await soakPostgres(databaseUrl, schema, { processes, kills, keys, minUp, onProgress, signal: early.signal }), null, 2)
)
