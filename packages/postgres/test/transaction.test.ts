import t from 'tap'
import { kinds, serviceOn, thingsOn } from './unit-of-work.ts'

t.setTimeout(120_000)
const transaction = { transaction: true } as const

for (const kind of kinds) {
  t.test(`on ${kind}`, async (t) => {
    t.test('what a handler wrote is there when its answer comes', async (t) => {
      const things = await thingsOn(t, kind)
      const app = await serviceOn(t, things, (app) => {
        app.post('/things', { config: transaction }, async (request) => {
          const { rowCount } = await request.transaction.query(`INSERT INTO ${things.table} VALUES ($1), ($2)`, ['oak', 'ash'])
          const { rows } = await request.transaction.query<{ name: string }>(`SELECT name FROM ${things.table} ORDER BY name`)
          return { rowCount, rows }
        })
      })
      const { statusCode, body } = await app.inject({ method: 'POST', url: '/things' })
      t.equal(statusCode, 200)
      t.strictSame(JSON.parse(body), { rowCount: 2, rows: [{ name: 'ash' }, { name: 'oak' }] })
      t.strictSame(await things.names(), ['ash', 'oak'])
    })
  })
}
