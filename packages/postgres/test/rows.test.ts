import { changed, expectedVersions, found, onViolation, statementsOn, type Versioned, validatorOf } from '@concordat/postgres/rows'
import unitOfWork from '@concordat/postgres/unit-of-work'
import Fastify from 'fastify'
import t from 'tap'
import { kinds, thingsOn } from './unit-of-work.ts'

const taken = () => new Error('taken')

async function failing(error: Error): Promise<unknown> {
  const query = async () => {
    throw error
  }
  return statementsOn({ query }).query('SELECT 1')
}

function preconditions(versions: readonly string[] | '*' | null): Parameters<typeof expectedVersions>[0] {
  return { versions: () => versions, failed: (version) => new Error(`now ${version}`) }
}

const missing = { statusCode: 404, code: 'RESOURCE_NOT_FOUND' }

for (const kind of kinds) {
  t.test(`translates only the violation of a named constraint, on ${kind}`, async (t) => {
    const { database, table } = await thingsOn(t, kind)
    const statements = statementsOn(database.client)
    const insert = () => statements.query(`INSERT INTO ${table} VALUES ('oak') RETURNING name`)
    t.strictSame(await onViolation(insert(), { things_name_key: taken }), [{ name: 'oak' }])
    t.strictSame(await statements.client.query('SELECT $1::text AS name, NULL AS note', ['ash']), { rows: [{ name: 'ash' }], rowCount: 1 })
    await t.rejects(onViolation(insert(), { things_name_key: taken }), { message: 'taken' })
    await t.rejects(onViolation(insert(), { other_key: taken }), { code: '23505' })
    await t.rejects(onViolation(statements.query('SELECT 1 / 0'), { things_name_key: taken }), { code: '22012' })
    await t.rejects(onViolation(Promise.reject(new Error('other')), { things_name_key: taken }), { message: 'other' })
    const nothing = await onViolation(Promise.reject(), {}).catch((thrown) => ({ thrown }))
    t.strictSame(nothing, { thrown: undefined })
  })

  t.test(`runs the statements of a route in its transaction, on ${kind}`, async (t) => {
    const things = await thingsOn(t, kind)
    const { database, table } = things
    const app = Fastify({ handlerTimeout: 10_000 })
    t.teardown(() => app.close())
    await app.register(unitOfWork, { database })
    app.post('/things/:name', { config: { transaction: true } }, async ({ params, transaction }) => {
      const { name } = params as { name: string }
      await statementsOn(transaction).query(`INSERT INTO ${table} VALUES ($1)`, [name])
      if (name === 'ash') throw new Error('no')
      return statementsOn(transaction).query(`SELECT name, NULL AS note FROM ${table}`)
    })
    t.strictSame((await app.inject({ method: 'POST', url: '/things/oak' })).json(), [{ name: 'oak' }])
    t.equal((await app.inject({ method: 'POST', url: '/things/ash' })).statusCode, 500)
    t.strictSame(await things.names(), ['oak'])
  })
}

t.test('rejects with a 503 for an error of the connection, and with the error itself for one of the service', async (t) => {
  const lost = Object.assign(new Error('lost'), { code: 'ECONNREFUSED' })
  await t.rejects(failing(lost), { statusCode: 503, code: 'SERVICE_UNAVAILABLE', headers: { 'retry-after': '2' }, cause: lost })
  await t.rejects(failing(new TypeError('mistake')), { message: 'mistake' })
})

t.test('returns a row, or throws a 404', async (t) => {
  t.equal(found(0), 0)
  t.throws(() => found(undefined), missing)
})

t.test('compares preconditions with the version of a row [O1]', async (t) => {
  t.strictSame(validatorOf({ version: 3 }), { exists: true, etag: 3 })
  t.strictSame(validatorOf(undefined), { exists: false })
  t.strictSame(
    [['3'], '*', null].map((versions) => expectedVersions(preconditions(versions as '*'))),
    [['3'], null, null]
  )
  const oak: Versioned<{ name: string }> = { name: 'oak', version: 3 }
  t.equal(await changed(oak, preconditions(['3']), async () => t.fail('the row is not read again') as never), oak)
  await t.rejects(
    changed(undefined, preconditions(['3']), async () => ({ version: 4 })),
    { message: 'now 4' }
  )
  await t.rejects(
    changed(undefined, preconditions(['3']), async () => undefined),
    missing
  )
})
