import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { type OpenDatabase, openDatabase } from '@concordat/postgres/open'
import { type DatabasePlace, type FreshDatabaseOptions, freshDatabase } from '@concordat/testing'
import t from 'tap'

const server = process.env['TEST_DATABASE_URL']
const engines = { PGlite: false, PostgreSQL: server } as const
const source = new URL('../src/index.ts', import.meta.url).href

const prepare = async (database: OpenDatabase) => {
  await database.query('CREATE TABLE books (title text)')
  await database.query("INSERT INTO books VALUES ('Momo')")
}

/** Ends a test of its own, so that what happens at its end can be observed. */
function ownTest() {
  const cleanups: (() => Promise<void>)[] = []
  return { onTestFinished: (cleanup: () => Promise<void>) => cleanups.push(cleanup), end: async () => cleanups[0]?.() }
}

async function queried(options: { databaseUrl: string | undefined; dataFolder: string }, sql: string) {
  const database = await openDatabase({ url: options.databaseUrl, folder: options.dataFolder })
  return database.query(sql).finally(() => database.close())
}

for (const [name, serverUrl] of Object.entries(engines)) {
  const options = { skip: serverUrl === undefined && 'set TEST_DATABASE_URL' }
  const own = (more: FreshDatabaseOptions = {}): FreshDatabaseOptions => ({ serverUrl, ...more })

  t.test(`${name}: each test gets a copy of its own of what prepare makes, which is removed at the end of the test`, options, async (t) => {
    const first = ownTest()
    const [one, other] = [await freshDatabase(first, own({ prepare })), await freshDatabase(t, own({ prepare }))]
    await queried(one, "INSERT INTO books VALUES ('Jim Button')")
    t.strictSame(await queried(one, 'SELECT title FROM books ORDER BY title'), [{ title: 'Jim Button' }, { title: 'Momo' }])
    t.strictSame(await queried(other, 'SELECT title FROM books'), [{ title: 'Momo' }])
    await first.end()
    if (one.databaseUrl === undefined) t.notOk(existsSync(one.dataFolder))
    else await t.rejects(queried(one, 'SELECT 1'), { message: /unavailable/ })
  })

  t.test(`${name}: the database is empty without prepare`, options, async (t) => {
    t.strictSame(await queried(await freshDatabase(t, own()), "SELECT to_regclass('books') IS NULL AS empty"), [{ empty: true }])
  })
}

// The engine does not matter here. To prepare a database is faster on a server.
const either = (options: FreshDatabaseOptions): FreshDatabaseOptions => ({ serverUrl: server ?? false, ...options })

t.test('a service that is started once makes the database, with what its first start creates', async (t) => {
  const steps: string[] = []
  const start = async ({ databaseUrl, dataFolder }: DatabasePlace) => {
    const database = await openDatabase({ url: databaseUrl, folder: dataFolder, prepare })
    const ready = async () => {
      steps.push('ready')
      await database.query("INSERT INTO books VALUES ('of the first start')")
    }
    return { ready, close: () => database.close() }
  }
  const options = either({ start, key: String(Math.random()) })
  const places = [await freshDatabase(t, options), await freshDatabase(t, options)]
  for (const place of places)
    t.strictSame(await queried(place, 'SELECT title FROM books ORDER BY title'), [{ title: 'Momo' }, { title: 'of the first start' }])
  t.strictSame(steps, ['ready'])
  await t.rejects(freshDatabase(t, { prepare, start }), {
    message: /^testing: options\.prepare and options\.start are both set\. Remove prepare/
  })
})

t.test('a key tells apart what prepare makes of values that are in no file', async (t) => {
  for (const rows of [1, 2]) {
    const made = async (database: OpenDatabase) => {
      await database.query(`CREATE TABLE numbers AS SELECT * FROM generate_series(1, ${rows})`)
    }
    const place = await freshDatabase(t, either({ prepare: made, key: String(rows) }))
    t.strictSame(await queried(place, 'SELECT count(*) FROM numbers'), [{ count: rows }])
  }
})

t.test('an error of prepare is the error of the test, and the next test prepares again', async (t) => {
  let calls = 0
  const fails = async () => {
    if ((calls += 1) === 1) throw new Error('The migration is wrong.')
  }
  const keyed = either({ prepare: fails, key: String(Math.random()) })
  await t.rejects(freshDatabase(t, keyed), { message: 'The migration is wrong.' })
  await freshDatabase(t, keyed)
  await freshDatabase(t, keyed)
  t.equal(calls, 2)
})

t.test('node:test: a service is closed before its database is removed', async (t) => {
  const steps: string[] = []
  const folder = t.testdir({
    'package.json': '{}',
    'order.test.mjs': `
      import { existsSync } from 'node:fs'
      import { test } from 'node:test'
      import { freshDatabase, testClient } from ${JSON.stringify(source)}
      test('books', async (t) => {
        const { dataFolder } = await freshDatabase(t, { serverUrl: false })
        const response = { statusCode: 200, headers: {}, rawPayload: Buffer.from('{}'), payload: '{}', json: () => ({}) }
        const client = testClient(t, { inject: async () => response, close: async () => console.log('closed', existsSync(dataFolder)) })
        await client.get('/')
      })`
  })
  const child = spawn(process.execPath, [...process.execArgv, '--no-warnings', '--test', '--test-reporter=tap', 'order.test.mjs'], {
    cwd: folder,
    env: { ...process.env, NODE_TEST_CONTEXT: undefined },
    stdio: ['ignore', 'pipe', 'inherit']
  })
  child.stdout.on('data', (text) => steps.push(String(text)))
  const [code] = await once(child, 'close')
  t.strictSame([code, steps.join('').includes('closed true')], [0, true])
})

t.test('every step at the end of a test runs, also when one fails', async (t) => {
  const own = ownTest()
  const steps: number[] = []
  const { testClient } = await import('@concordat/testing')
  for (const step of [1, 2, 3]) {
    const close = async () => {
      steps.push(step)
      if (step > 1) throw new Error(`Step ${step} failed.`)
    }
    testClient(own, { inject: async () => {}, close } as never)
  }
  await t.rejects(own.end(), { message: 'testing: 2 steps at the end of the test failed.' })
  t.strictSame(steps, [3, 2, 1])
  const single = ownTest()
  testClient(single, { inject: async () => {}, close: async () => Promise.reject(new Error('One.')) } as never)
  await t.rejects(single.end(), { message: 'One.' })
})
