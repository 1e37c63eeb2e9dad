// Crashes and restarts PostgreSQL while the service runs, on a server that this script starts:
// node --conditions=@concordat/source packages/postgres/bench/restart-soak.ts [restarts] [keys] [processes]
import { ownPostgres } from '@concordat/test-harness/own-postgres'
import { soakPostgres } from '../test/soak/soak.ts'

const [count = 20, keys = 10_000, processes = 4] = process.argv.slice(2).map(Number)
const own = await ownPostgres()
if (own === undefined) throw new Error('PostgreSQL is not installed on this machine.')
const restart = async () => {
  await own.restart()
  console.log('PostgreSQL has restarted')
}
const report = await soakPostgres(own.url, 'soak', { processes, kills: 0, keys, restarts: { count, restart } }).finally(() => own.stop())
console.log(JSON.stringify(report, null, 2))
