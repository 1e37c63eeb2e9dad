import paginationQuery, { collection, type ListQuery, type Page } from '@concordat/pagination-query'
import { preparePages, runSql } from '@concordat/pagination-query/sql'
import { contractOf, publish } from '@concordat/plugin-kit/wiring'
import { type Static, Type } from '@sinclair/typebox'
import Fastify, { type FastifyInstance } from 'fastify'
import { Pool } from 'pg'
import t, { type Test } from 'tap'
import { secret } from './orders.ts'
import { skip } from './postgres.ts'
import { builders } from './query-builders.ts'

const Tree = Type.Object({
  id: Type.Integer(),
  name: Type.String({ maxLength: 40 }),
  kind: Type.Union([Type.Literal('oak'), Type.Literal('elm')]),
  height: Type.Optional(Type.Number()),
  plantedAt: Type.Optional(Type.String({ format: 'date-time' }))
})
type Tree = Static<typeof Tree>

type Run = (query: ListQuery<Tree>) => Promise<Page<Tree>>

const listing = {
  id: 'id',
  defaultSort: ['-plantedAt'],
  sort: { keys: ['plantedAt', 'name'] },
  filter: { kind: ['eq', 'in'], name: ['prefix'] }
} as const
const trees = {
  page: collection(Tree)({ ...listing, name: 'trees', style: 'page' }),
  cursor: collection(Tree)({ ...listing, name: 'trees-by-cursor', style: 'cursor', count: { max: 3 } })
}

/** Returns an application that sends the text of each page in the place of its rows, as an envelope does, and the rows of a page without a text. */
async function service(t: Test, run: Run): Promise<FastifyInstance> {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(paginationQuery, { publicUrl: 'https://api.example.com', cursor: { secrets: [secret] } })
  publish(app, { envelope: { wraps: () => true, markReplayed: () => {}, volatileTail: () => 0 } })
  app.addHook('preSerialization', async (request, reply, payload) => {
    const pages = contractOf(app, 'pages')
    const text = pages?.text?.(reply, payload)
    return { text: text !== undefined, data: text === undefined ? payload : JSON.parse(text), ...pages?.parts(request, reply) }
  })
  for (const [style, one] of Object.entries(trees)) {
    app.get(
      `/text/${style}`,
      { config: { collection: one }, schema: { response: { 200: Type.Array(Tree) } }, serializerCompiler },
      async (request, reply) => reply.page(await run(request.listQuery(one)))
    )
    app.get(
      `/rows/${style}`,
      { config: { collection: one }, schema: { response: { 200: Type.Array(Tree) } }, serializerCompiler },
      async (request, reply) => {
        const page = await run(request.listQuery(one))
        return reply.page({ ...page, rows: [...page.rows] })
      }
    )
  }
  return app
}

const serializerCompiler = () => JSON.stringify

const queries = [
  '',
  '?sort=name',
  '?sort=-name&perPage=2',
  '?perPage=2',
  '?kind=oak',
  '?kind[in]=oak,elm&perPage=3',
  '?name[prefix]=a%3F',
  '?fields=name',
  '?kind=elm&perPage=1'
]

async function sameInBoth(t: Test, run: Run, calls: () => number) {
  const app = await service(t, run)
  for (const style of ['page', 'cursor']) {
    for (const query of queries) {
      const targets = [`${style}${query}`]
      for (const target of targets) {
        for (let time = 0; time < 3; time += 1) await app.inject(`/text/${target}`)
        const before = calls()
        const text = (await app.inject(`/text/${target}`)).json()
        t.equal(calls() - before, 1, `${target} is one statement`)
        const rows = (await app.inject(`/rows/${target}`)).json()
        t.equal(text.text, true)
        t.strictSame({ data: text.data, meta: text.meta }, { data: rows.data, meta: rows.meta }, target)
        const next = text.links.find(({ rel }: { rel: string }) => rel === 'next' || rel === 'last')
        if (targets.length < 4 && next !== undefined) targets.push(`${style}${new URL(next.href).search}`)
      }
    }
  }
}

t.test('pages of each adapter are fetched as one text in one statement', { skip }, async (t) => {
  const schema = `written_${process.pid}`
  const pool = new Pool({ connectionString: process.env['TEST_DATABASE_URL'], max: 1, options: `-c search_path=${schema}` })
  t.teardown(async () => {
    await pool.query(`drop schema ${schema} cascade`)
    await pool.end()
  })
  let calls = 0
  pool.on('connect', (client) => {
    const query = client.query.bind(client) as (...input: unknown[]) => unknown
    client.query = ((...input: unknown[]) => {
      calls += 1
      return query(...input)
    }) as typeof client.query
    preparePages(client)
  })
  await pool.query(`create schema ${schema}`)
  await pool.query(`create table trees (id integer, name text, kind text, height real, planted_at timestamptz);
    insert into trees values (1, 'a?b', 'oak', 0.5, '2026-01-01Z'), (2, 'b', 'elm', null, null), (3, 'a?c', 'oak', 2, '2026-01-01T00:00:00.5Z'),
      (4, 'd', 'oak', 3, null), (5, 'e', 'elm', 4, '2026-01-02Z')`)
  await t.test('runSql', (t) =>
    sameInBoth(
      t,
      (query) => runSql(pool, query, { table: 'trees', where: { text: 'id < $1', values: [9] } }),
      () => calls
    )
  )
  const columns = ['id', 'name', 'kind', 'height', 'planted_at']
  for (const [name, run] of Object.entries(await builders(t.teardown.bind(t), pool))) {
    await t.test(name, (t) =>
      sameInBoth(
        t,
        (query) => run(query, { table: 'trees', columns, except: '9' }),
        () => calls
      )
    )
  }
})

t.test('an error while the types of columns are read is that of the request, and the next request reads them again', async (t) => {
  let isBroken = true
  const sample = {
    types: '23,25,25,700',
    absent: null,
    words: 'a',
    uuid: '',
    whole: 7,
    large: '9007199254740993',
    exact: '12.50',
    real: 0.5,
    truth: true
  }
  const texts: string[] = []
  const run: Run = (query) =>
    runSql(
      {
        async query(text) {
          texts.push(text)
          if (text.includes('pg_typeof')) {
            if (isBroken) throw new Error('connection lost')
            return { rows: [{ ...sample, types: '23,25,25,700,1184' }] }
          }
          if (text.includes('pagetext')) return { rows: [{ pagetext: 'ff\u001f1\u001fa\u001foak\u001f\u001f\u001f', fetched: '1' }] }
          return { rows: [] }
        }
      },
      query
    )
  const app = await service(t, run)
  await app.inject('/text/page')
  t.equal((await app.inject('/text/page')).statusCode, 500)
  isBroken = false
  const response = await app.inject('/text/page')
  t.strictSame(response.json().data, [{ id: 1, name: 'a', kind: 'oak' }])
  t.equal(texts.filter((text) => text.includes('pg_typeof')).length, 2)
})

t.test('a row has any number of fields', async (t) => {
  const names = Array.from({ length: 60 }, (_, index) => `field${index}`)
  const Wide = Type.Object({ id: Type.String({ maxLength: 9 }), ...Object.fromEntries(names.map((name) => [name, Type.String()])) })
  const wide = collection(Wide)({ name: 'wide', style: 'page', id: 'id', defaultSort: ['id'], sort: { keys: ['id'] }, count: 'none' })
  let written = ''
  const client = {
    async query(text: string) {
      if (text.includes('pagetext')) written = text
      return { rows: text.includes('typtype') ? [{ types: Array(61).fill('25').join(), absent: null, words: 'a' }] : [{ fetched: '0' }] }
    }
  }
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(paginationQuery, { publicUrl: 'https://api.example.com' })
  publish(app, { envelope: { wraps: () => true, markReplayed: () => {}, volatileTail: () => 0 } })
  app.get('/wide', { config: { collection: wide }, schema: { response: { 200: Type.Array(Wide) } } }, async (request, reply) => {
    const page = await runSql<object>(client, request.listQuery(wide))
    return reply.page({ ...page, rows: written === '' ? [] : page.rows }) as never
  })
  for (let time = 0; time < 3; time += 1) await app.inject('/wide')
  // PostgreSQL accepts at most 100 arguments.
  const most = Math.max(...written.split('concat(').map((call) => call.split(')')[0]?.split(', ').length ?? 0))
  t.ok(written.includes('concat(concat('))
  t.ok(most <= 101, `${most} arguments`)
})
