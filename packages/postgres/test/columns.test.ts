import { type OpenDatabase, openDatabase } from '@concordat/postgres/open'
import type { Statements } from '@concordat/postgres/rows'
import { transactionPool } from '@concordat/postgres/transaction-pool'
import { postgresTransactions } from '@concordat/postgres/unit-of-work'
import { columnCases, createTypes } from '@concordat/test-harness/column-types'
import Fastify from 'fastify'
import { Client } from 'pg'
import t from 'tap'
import { freshSchema, onServer, schemaName, server } from './database.ts'

const zones = ['UTC', 'America/St_Johns', 'Europe/Madrid']
const zoneBefore = process.env['TZ']
t.teardown(() => {
  if (zoneBefore === undefined) delete process.env['TZ']
  else process.env['TZ'] = zoneBefore
})

const kinds = server === '' ? ['PGlite'] : ['PGlite', 'PostgreSQL']
const opened = await Promise.all(
  kinds.map(async (kind) => {
    const schema = kind === 'PGlite' ? schemaName() : freshSchema(t)
    const database = await openDatabase({ ...(kind === 'PGlite' ? { folder: 'memory://' } : { url: server }), prepare: createIn(schema) })
    t.teardown(() => database.close())
    return { kind, schema, database }
  })
)

for (const { kind, schema, database } of opened) {
  // A table of one type, which exists in the transaction only.
  async function withTable(column: string, work: (transaction: Statements) => Promise<void>) {
    await database.transaction(async (transaction) => {
      await transaction.query(`SET LOCAL search_path = ${schema}, public`)
      await transaction.query(`CREATE TEMPORARY TABLE one (id integer, value ${column}) ON COMMIT DROP`)
      await work(transaction)
    })
  }

  for (const { type, values } of columnCases) {
    t.test(`returns each ${type} in every time zone, and stores what it returned, on ${kind}`, async (t) => {
      await withTable(type, async (transaction) => {
        const texts = values.map(([text]) => text)
        await transaction.query(
          `INSERT INTO one SELECT place, text::${type} FROM unnest($1::text[]) WITH ORDINALITY AS texts (text, place)`,
          [texts]
        )
        const expected = values.map(([, value]) => value)
        for (const zone of zones) {
          process.env['TZ'] = zone
          t.strictSame(await valuesIn(transaction), expected, zone)
        }
        // A value of JSON is a text of the author.
        if (type.startsWith('json')) return
        await transaction.query('DELETE FROM one')
        for (const [place, value] of expected.entries()) await transaction.query('INSERT INTO one VALUES ($1, $2)', [place, value])
        t.strictSame(await valuesIn(transaction), expected, 'stored again')
      })
    })
  }

  t.test(`stores a Date in UTC in every time zone, on ${kind}`, async (t) => {
    const noon = new Date('1990-01-01T23:30:00.500Z')
    for (const zone of zones) {
      process.env['TZ'] = zone
      for (const [type, value] of [
        ['date', '1990-01-01'],
        ['timestamp', '1990-01-01T23:30:00.500Z'],
        ['timestamptz', '1990-01-01T23:30:00.500Z'],
        ['text', '1990-01-01T23:30:00.500Z']
      ] as const)
        await withTable(`${type}, items ${type}[]`, async (transaction) => {
          await transaction.query('INSERT INTO one VALUES (1, $1, $2)', [noon, [noon]])
          t.strictSame(await transaction.query('SELECT value, items FROM one'), [{ value, items: [value] }], `${type}, ${zone}`)
        })
    }
  })

  t.test(`returns the text of PostgreSQL for times that ISO 8601 cannot express, on ${kind}`, async (t) => {
    const [row] = await database.query(
      `SELECT 'infinity'::timestamptz AS a, '-infinity'::timestamp AS b, 'infinity'::date AS c, '0044-03-15 12:00Z BC'::timestamptz AS d,
        '0044-03-15 BC'::date AS e, '12345-01-01Z'::timestamptz AS f, array['infinity'::timestamptz] AS g, 'NaN'::float8 AS h, '-Infinity'::real AS i`
    )
    t.strictSame(row, {
      a: 'infinity',
      b: '-infinity',
      c: 'infinity',
      d: '0044-03-15 12:00:00+00 BC',
      e: '0044-03-15 BC',
      f: '12345-01-01 00:00:00+00',
      g: ['infinity'],
      h: Number.NaN,
      i: Number.NEGATIVE_INFINITY
    })
  })

  t.test(`reads every form in which a session can write times and bytes, on ${kind}`, async (t) => {
    await database.transaction(async (transaction) => {
      const [row] = await transaction.query("SELECT '1 day 02:00'::interval AS a, '1850-06-01Z'::timestamptz AS b, '\\x00415c'::bytea AS c")
      await transaction.query(
        "SELECT set_config('TimeZone', 'Europe/Madrid', true), set_config('bytea_output', 'escape', true), set_config('IntervalStyle', 'iso_8601', true)"
      )
      t.strictSame(
        await transaction.query("SELECT '1 day 02:00'::interval AS a, '1850-06-01Z'::timestamptz AS b, '\\x00415c'::bytea AS c"),
        [row]
      )
      await transaction.query("SET LOCAL DateStyle = 'German'")
      t.strictSame(await transaction.query("SELECT '1850-06-01Z'::timestamptz AS a, '0001-01-01 00:00:00+00:00:01 '::timestamptz AS b"), [
        { a: '31.05.1850 23:45:16 LMT', b: '31.12.0001 23:45:15 LMT BC' }
      ])
      await transaction.query("SET LOCAL IntervalStyle = 'sql_standard'")
      t.strictSame(await transaction.query("SELECT '1 day 02:00'::interval AS a"), [{ a: '1 2:00:00' }], 'as PostgreSQL writes it')
    })
  })

  t.test(`stores an object as JSON, and refuses a BigInt in it, on ${kind}`, async (t) => {
    for (const type of ['text', 'json', 'jsonb'])
      await withTable(type, async (transaction) => {
        await transaction.query('INSERT INTO one VALUES (1, $1)', [{ a: [1] }])
        t.strictSame(await transaction.query('SELECT value::text::json AS value FROM one'), [{ value: { a: [1] } }])
      })
    await t.rejects(database.query('SELECT $1::json', [{ a: 1n }]), TypeError)
  })
}

async function valuesIn(rows: Statements) {
  return (await rows.query<{ value: unknown }>('SELECT value FROM one ORDER BY id')).map(({ value }) => value)
}

function createIn(schema: string) {
  return async (opened: OpenDatabase) =>
    opened.transaction(async (transaction) => {
      await transaction.query(`CREATE SCHEMA ${schema}`)
      await transaction.query(`SET LOCAL search_path = ${schema}`)
      for (const sql of createTypes) await transaction.query(sql)
    })
}

t.test('refuses a database that is not in UTF-8 with one line', onServer, async (t) => {
  const admin = new Client(server)
  await admin.connect()
  const name = schemaName()
  t.teardown(async () => {
    await admin.query(`DROP DATABASE ${name} WITH (FORCE)`)
    await admin.end()
  })
  await admin.query(`CREATE DATABASE ${name} ENCODING 'LATIN1' TEMPLATE template0 LOCALE 'C'`)
  const url = new URL(server)
  url.pathname = `/${name}`
  const message =
    "postgres: the encoding of the database is LATIN1, which does not have every character. Create the database with ENCODING 'UTF8'."
  await t.rejects(openDatabase({ url: url.href, prepare: async (opened) => void (await opened.query('SELECT 1')) }), {
    name: 'TypeError',
    message
  })
  const database = await openDatabase({ url: url.href })
  await t.rejects(database.query('SELECT 1'), { name: 'TypeError', message })
  await database.close()
})

t.test('a Date in a query object of a data layer is a time in UTC', onServer, async (t) => {
  const before = process.env['TZ']
  process.env['TZ'] = 'America/St_Johns'
  t.teardown(() => {
    if (before === undefined) delete process.env['TZ']
    else process.env['TZ'] = before
  })
  const database = await openDatabase({ url: server })
  t.teardown(() => database.close())
  const time = new Date('2026-01-31T12:00:00.000Z')
  const query = { text: 'SELECT $1::timestamp::text AS one, ($2::timestamp[])::text AS many', values: [time, [time]] }
  const app = Fastify({ handlerTimeout: 10_000 })
  t.teardown(() => app.close())
  await app.register(postgresTransactions(database.postgres))
  app.post('/', { config: { transaction: true } }, async (request) => (await transactionPool(request.transaction).query(query)).rows)
  const response = await app.inject({ method: 'POST', url: '/' })
  t.strictSame(response.json(), [{ one: '2026-01-31 12:00:00', many: '{"2026-01-31 12:00:00"}' }])
})
