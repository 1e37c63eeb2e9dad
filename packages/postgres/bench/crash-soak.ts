// The crash soak by hand: node --conditions=@concordat/source packages/postgres/bench/crash-soak.ts [kills] [keys] [processes]
import { randomUUID } from 'node:crypto'
import { crashSoak } from '../test/soak/crash-soak.ts'

const [kills = 300, keys = 10_000, processes = 4] = process.argv.slice(2).map(Number)
const databaseUrl = process.env['TEST_DATABASE_URL']
if (databaseUrl === undefined) throw new Error('Set TEST_DATABASE_URL to the address of a PostgreSQL server.')
const schema = `concordat_soak_${randomUUID().slice(0, 8)}`
const onProgress = (done: number, killed: number) => {
  if (killed % 10 === 0) console.log(`${killed} kills, ${done} answers`)
}
console.log(JSON.stringify(await crashSoak({ databaseUrl, schema, processes, kills, keys, onProgress }), null, 2))
