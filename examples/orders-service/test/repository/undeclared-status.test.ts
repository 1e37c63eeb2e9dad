import conventions, { serverOptions } from '@concordat/conventions'
import { migrate } from '@concordat/postgres'
import { openDatabase } from '@concordat/postgres/open'
import { postgresStores, storeMigrations } from '@concordat/postgres/stores'
import { postgresTransactions } from '@concordat/postgres/unit-of-work'
import Fastify, { type FastifyReply } from 'fastify'
import t from 'tap'

const Thing = { type: 'object', properties: { name: { type: 'string' } } }
// As an object without a type, because the compiler refuses a status that a route does not declare.
const response: object = { 201: Thing }
const things = { component: 'things', version: 1, statements: ['CREATE TABLE things (name text PRIMARY KEY)'] }

t.test('a status that the route does not declare: the effect stands with its response, or neither of them', async (t) => {
  const database = await openDatabase({
    folder: 'memory://',
    prepare: ({ postgres }) => migrate(postgres, [...storeMigrations, things])
  })
  const lines: string[] = []
  const app = Fastify({
    ...serverOptions(),
    logger: { level: 'error', stream: { write: (line: string) => void lines.push(JSON.parse(line).msg) } }
  })
  t.teardown(async () => {
    await app.close()
    await database.close()
  })
  await app.register(conventions, {
    publicUrl: 'https://api.example.com',
    versions: { 1: {} },
    authentication: false,
    transportSecurity: { dangerouslyAllowHttp: 'loopback' },
    stores: { idempotency: postgresStores(database.postgres).idempotency },
    idempotency: { scope: () => 'client' },
    transactions: postgresTransactions(database.postgres)
  })
  await app.apiVersion(1, async (v1) => {
    for (const [url, transaction] of [
      ['/things', true],
      ['/others', false]
    ] as const)
      v1.post(url, { config: { transaction, idempotency: 'accepted' }, schema: { response } }, async (request, reply: FastifyReply) => {
        const insert = 'INSERT INTO things VALUES ($1) RETURNING name, 7 AS secret'
        reply.code(202)
        if (!transaction) return (await database.query(insert, [url]))[0]
        return (await request.transaction.query(insert, [url])).rows[0]
      })
  })
  const post = (url: string, key: string) => app.inject({ method: 'POST', url, headers: { 'idempotency-key': `"${key}"` } })
  const names = async () => (await database.query<{ name: string }>('SELECT name FROM things')).map(({ name }) => name)

  t.match((await post('/v1/things', 'a')).json(), { error: { status: 500, code: 'INTERNAL_ERROR' } })
  t.strictSame(await names(), [], 'rolled back')
  t.notOk(lines.some((line) => line.includes('It is sent')))

  const sent = await post('/v1/others', 'b')
  t.strictSame([sent.statusCode, sent.json().data], [202, { name: '/others' }])
  t.strictSame(await names(), ['/others'])
  const again = await post('/v1/others', 'b')
  t.match(again, { statusCode: 202, headers: { 'idempotency-replayed': 'true' } }, 'a retry gets the same response')
  t.strictSame(again.json().data, { name: '/others' })
  t.equal(lines.filter((line) => line.startsWith('envelope: POST /v1/others responded with 202,')).length, 1)
})
