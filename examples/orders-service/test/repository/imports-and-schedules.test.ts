// Uploads and schedules of several processes on one server.
import { randomUUID } from 'node:crypto'
import { request } from 'node:http'
import { postgresFileStore } from '@concordat/postgres/files'
import { type OpenDatabase, openDatabase } from '@concordat/postgres/open'
import { until } from '@concordat/test-harness/until'
import { describedFetch } from '@concordat/testing'
import t, { type Test } from 'tap'
import { signIn, startChild } from './child.ts'
import { environmentOf, freshDatabase, server } from './fresh-database.ts'

const header = 'name,categoryId,unitPrice,currency,unitsInStock'

async function database(t: Test) {
  const place = await freshDatabase(t)
  const opened = await openDatabase({ url: place.databaseUrl })
  t.teardown(() => opened.close())
  return { opened, env: { ...environmentOf(place), RATE_LIMIT: 'off' } }
}

const countOf = async (opened: OpenDatabase, from: string) => {
  const [row] = await opened.query<{ count: number }>(`SELECT count(*)::integer AS count FROM ${from}`)
  return row?.count ?? 0
}

/** Sends the beginning of an upload, whose rest never follows. */
function beginUpload(address: string, headers: Record<string, string>) {
  const upload = request(`${address}/v2/product-imports`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'multipart/form-data; boundary=x', 'idempotency-key': 'begun' }
  }).on('error', () => {})
  upload.write('--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\nContent-Type: text/csv\r\n\r\n')
  upload.write(`${header}\n`.repeat(10_000))
  return upload
}

async function importFile(address: string, headers: Record<string, string>, csv: string) {
  const body = new FormData()
  body.set('file', new Blob([csv], { type: 'text/csv' }), 'products.csv')
  const response = await describedFetch(`${address}/v2/product-imports`, {
    method: 'POST',
    headers: { ...headers, 'idempotency-key': randomUUID() },
    body
  })
  return ((await response.json()) as { data: { jobId: string } }).data.jobId
}

if (server === undefined) t.plan(0, 'set TEST_DATABASE_URL to the address of a PostgreSQL server')
else {
  t.test(
    'an import whose process is killed continues in another one, which reads the file, and no product is created twice [J1]',
    async (t) => {
      const { opened, env } = await database(t)
      const first = startChild(t, env)
      const address = await first.address
      const headers = await signIn(address)
      const [category] = await opened.query<{ id: string }>('SELECT id FROM categories LIMIT 1')
      const lines = Array.from({ length: 5000 }, (_, index) => `Imported ${index},${category?.id},1.50,EUR,3`)
      const id = await importFile(address, headers, [header, ...lines].join('\n'))
      const created = () => countOf(opened, "products WHERE name LIKE 'Imported %'")
      await until(async () => (await created()) > 0)
      first.process.kill('SIGKILL')
      await first.ended
      const before = await created()
      t.ok(before < 5000 && before % 100 === 0, `${before} of 5000 were created before`)
      const second = await startChild(t, env).address
      const get = async (path: string) => {
        const response = await describedFetch(`${second}/v2/product-imports/${id}${path}`, { headers })
        return ((await response.json()) as { data: { status: string; created: number; refused: number } }).data
      }
      await until(async () => ['completed', 'failed'].includes((await get('')).status), 200)
      t.match(await get(''), { status: 'completed' })
      t.match(await get('/result'), { created: 5000, changed: 0, unchanged: 0, refused: 0 })
      t.equal(await created(), 5000)
    }
  )

  t.test('of a client that leaves in the middle of a file nothing remains, and its key is free', async (t) => {
    const { opened, env } = await database(t)
    const address = await startChild(t, env).address
    const headers = await signIn(address)
    const upload = beginUpload(address, headers)
    await until(async () => (await countOf(opened, 'concordat.file_chunks')) > 0)
    upload.destroy()
    await until(async () => (await countOf(opened, 'concordat.files')) === 0)
    const body = new FormData()
    body.set('file', new Blob([header], { type: 'text/csv' }), 'a.csv')
    const again = { method: 'POST', headers: { ...headers, 'idempotency-key': 'begun' }, body }
    t.equal((await describedFetch(`${address}/v2/product-imports`, again)).status, 202)
  })

  t.test('of a process that is killed in the middle of a file, the sweep deletes what was staged', async (t) => {
    const { opened, env } = await database(t)
    const child = startChild(t, env)
    const address = await child.address
    beginUpload(address, await signIn(address))
    await until(async () => (await countOf(opened, 'concordat.file_chunks')) > 0)
    child.process.kill('SIGKILL')
    await child.ended
    t.equal(await countOf(opened, 'concordat.files WHERE staged_at IS NOT NULL'), 1)
    const files = postgresFileStore(opened.postgres)
    t.equal(await files.sweep(Date.now() - 86_400_000, 100), 0, 'another upload may still be arriving')
    await opened.query("UPDATE concordat.files SET staged_at = staged_at - interval '25 hours'")
    t.equal(await files.sweep(Date.now() - 86_400_000, 100), 1)
    t.strictSame([await countOf(opened, 'concordat.files'), await countOf(opened, 'concordat.file_chunks')], [0, 0])
  })

  t.test('two processes write the summary of each missed day once', async (t) => {
    const { opened, env } = await database(t)
    const first = startChild(t, env)
    await first.address
    await opened.query(`UPDATE orders SET placed_at = now() - interval '36 hours'`)
    const due = "concordat.job_schedules WHERE name = 'order-summaries' AND next_at <= extract(epoch FROM now()) * 1000"
    await opened.query(`UPDATE concordat.job_schedules SET next_at = next_at - 4 * 86400000 WHERE name = 'order-summaries'`)
    t.equal(await countOf(opened, due), 1)
    await startChild(t, env).address
    await until(async () => (await countOf(opened, due)) === 0, 100)
    await until(async () => (await countOf(opened, "concordat.jobs WHERE type = 'order-summary' AND state <> 'completed'")) === 0, 100)
    const jobs = await opened.query<{ day: string; count: number }>(
      `SELECT input->>'day' AS day, count(*)::integer AS count FROM concordat.jobs WHERE type = 'order-summary' GROUP BY 1 ORDER BY 1`
    )
    t.ok(jobs.length >= 3, `${jobs.length} days`)
    t.ok(jobs.every(({ count }) => count === 1))
    t.match(await opened.query('SELECT orders FROM order_summaries'), [{ orders: 20 }])
  })
}
