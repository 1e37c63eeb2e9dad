import { randomUUID } from 'node:crypto'
import conditionalCaching from '@concordat/conditional-caching'
import { scaled } from '@concordat/test-harness/scale'
import Fastify, { type FastifyRequest } from 'fastify'
import { Pool } from 'pg'
import t, { type Test } from 'tap'

const database = process.env['TEST_DATABASE_URL']
const missing = database === undefined && 'set TEST_DATABASE_URL to the URL of a PostgreSQL server'
const writers = 200
const rounds = scaled(5, 50)

async function ordersTable(t: Test) {
  const pool = new Pool({ connectionString: database, max: 20 })
  const schema = `conditional_${randomUUID().replaceAll('-', '')}`
  await pool.query(`CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.orders (id int PRIMARY KEY, version int NOT NULL, note text NOT NULL)`)
  await pool.query(`INSERT INTO ${schema}.orders VALUES (1, 1, 'first'), (2, 1, 'another')`)
  t.teardown(async () => {
    await pool.query(`DROP SCHEMA ${schema} CASCADE`)
    await pool.end()
  })
  return { pool, table: `${schema}.orders` }
}

type OrderRequest = FastifyRequest<{ Params: { id: number }; Body: { note: string } }>

// Like a service: the validator reads the version, and the write has the same version in its WHERE.
async function instance({ pool, table }: Awaited<ReturnType<typeof ordersTable>>) {
  const app = Fastify()
  await app.register(conditionalCaching)
  const lost = { count: 0 }
  const versionOf = async (id: number) => (await pool.query(`SELECT version FROM ${table} WHERE id = $1`, [id])).rows[0]?.version as number
  const validator = async ({ params }: OrderRequest) => {
    const version = await versionOf(params.id)
    return version === undefined ? { exists: false } : { exists: true, etag: version }
  }
  app.patch('/orders/:id', { config: { validator, requireIfMatch: true } }, async (request, reply) => {
    const { preconditions, params, body } = request as OrderRequest
    const versions = preconditions.versions()
    const written = await pool.query(
      `UPDATE ${table} SET note = $2, version = version + 1 WHERE id = $1 AND ($3::int[] IS NULL OR version = ANY ($3)) RETURNING version`,
      [params.id, body.note, versions === '*' ? null : versions]
    )
    if (written.rowCount === 0) {
      lost.count += 1
      throw preconditions.failed(await versionOf(params.id))
    }
    return reply.entityTag(written.rows[0].version).send({ note: body.note })
  })
  await app.ready()
  return { app, lost }
}

t.test(
  `of ${writers} writers with the same tag at two instances, one succeeds, the others get 412, and nothing else changes [O1]`,
  { skip: missing },
  async (t) => {
    const orders = await ordersTable(t)
    const instances = await Promise.all([instance(orders), instance(orders)])
    for (let round = 1; round <= rounds; round += 1) {
      const responses = await Promise.all(
        Array.from({ length: writers }, async (_, writer) => {
          const { app } = instances[writer % 2] as (typeof instances)[0]
          const body = { note: `${round}:${writer}` }
          const response = await app.inject({ method: 'PATCH', url: '/orders/1', headers: { 'if-match': `"${round}"` }, body })
          return { status: response.statusCode, etag: response.headers.etag, note: body.note }
        })
      )
      const successes = responses.filter(({ status }) => status === 200)
      const failures = responses.filter(({ status }) => status === 412)
      t.strictSame([successes.length, failures.length], [1, writers - 1], `round ${round}`)
      t.strictSame(
        new Set(responses.map(({ etag }) => etag?.split('~')[0])),
        new Set([`"${round + 1}`]),
        'all responses have the new version'
      )
      const { rows } = await orders.pool.query(`SELECT * FROM ${orders.table} ORDER BY id`)
      t.strictSame(rows, [
        { id: 1, version: round + 1, note: successes[0]?.note },
        { id: 2, version: 1, note: 'another' }
      ])
    }
    const lost = instances.reduce((sum, { lost: { count } }) => sum + count, 0)
    t.ok(lost > 0, `${lost} writers passed the check and were stopped by the write itself`)
  }
)
