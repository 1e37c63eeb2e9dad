import t from 'tap'
import { startChild } from './child.ts'
import { environmentOf, freshDatabase } from './fresh-database.ts'

t.test('without Redis, the service starts with one warning that names the consequence, and serves', async (t) => {
  const place = environmentOf(await freshDatabase(t))
  const child = startChild(t, { ...place, REDIS_URL: 'redis://127.0.0.1:1', LOG_LEVEL: 'warn' })
  const address = await child.address
  t.equal((await fetch(`${address}/health/ready`)).status, 200)
  child.process.kill('SIGTERM')
  const { code, out, err } = await child.ended
  t.strictSame([code, err], [0, ''])
  const lines = out.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []))
  const ofRedis = lines.filter(({ msg }) => /redis/i.test(msg))
  t.match(ofRedis, [
    { level: 40, msg: 'Redis is not available. Each process counts its own requests until it is.', err: { code: 'ECONNREFUSED' } }
  ])
  t.equal(ofRedis.length, 1)
})
