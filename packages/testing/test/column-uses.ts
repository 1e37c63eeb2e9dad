import { isDeepStrictEqual } from 'node:util'
import { until } from '@concordat/test-harness/until'
import type { LightMyRequestResponse } from 'fastify'
import type { Test } from 'tap'
import type { ColumnService, Resource, Thing } from './column-service.ts'

interface Page {
  readonly data: readonly Thing[]
  readonly _links: readonly { readonly rel: string; readonly href: string }[]
}

/** Returns what a client receives for a value, or undefined if JSON or the schema cannot express it, so that the response is a 500. */
function sentAs(value: unknown, schema: Readonly<Record<string, unknown>>): unknown {
  if (Buffer.isBuffer(value)) return undefined
  if (Array.isArray(value)) {
    const items = value.map((item) => sentAs(item, (schema['items'] ?? {}) as Readonly<Record<string, unknown>>))
    return items.includes(undefined) ? undefined : items
  }
  if (typeof value === 'bigint' || (typeof value === 'number' && schema['type'] === 'string')) return String(value)
  if (typeof value === 'object' && value !== null) return Object.values(value).some((one) => typeof one === 'bigint') ? undefined : value
  return value
}

const dataOf = (response: LightMyRequestResponse) => response.json().data as unknown

/** Uses a column in every way, and checks that each value comes back exactly, or that the response is a 500 with one line in the log. */
export async function checkUses(t: Test, { app, database, errors }: ColumnService, resource: Resource): Promise<void> {
  const { name, table, type, values, things, isComparable } = resource
  const send = (method: 'GET' | 'POST' | 'PATCH', url: string, more: object = {}) => app.inject({ method, url: `/v1/${url}`, ...more })
  const expected: Thing[] = []

  for (const [index, [text, value]] of values.entries()) {
    const row = { id: String(index), value: sentAs(value, resource.schema) }
    const about = `${type}: ${text}`
    if (row.value === undefined) {
      await database.query(`INSERT INTO ${table} VALUES ($1, $2::text::${type})`, [row.id, text])
      errors.length = 0
      for (const url of [`${name}/${row.id}`, name]) t.equal((await send('GET', url)).statusCode, 500, `${about} is refused by ${url}`)
      t.equal(errors.length, 2, 'with one line each')
      await database.query(`DELETE FROM ${table} WHERE id = $1`, [row.id])
      continue
    }
    expected.push(row)
    const create = () =>
      send('POST', `${name}?id=${row.id}`, { payload: { value: row.value }, headers: { 'idempotency-key': `${table}-${row.id}` } })
    const created = await create()
    t.strictSame([created.statusCode, dataOf(created)], [201, row], `${about} is inserted ${created.body.slice(0, 300)}`)
    t.equal((await create()).body, created.body, `${about} is in the stored response`)
    const [message] = await database.query<{ body: string }>('SELECT bodies[1] AS body FROM concordat.webhook_messages WHERE id = $1', [
      `${table}-${row.id}`
    ])
    t.strictSame(JSON.parse(message?.body ?? '{}').data, row, `${about} is in the event`)
    const changed = await send('PATCH', `${name}/${row.id}`, { payload: { value: row.value } })
    t.strictSame([changed.statusCode, dataOf(changed)], [200, row], `${about} is updated`)
    t.strictSame(dataOf(await send('GET', `${name}/${row.id}`)), row, `${about} is found`)
  }

  const inOrder = async (path: string) => {
    const response = await send('GET', path)
    return response.statusCode === 200 ? (response.json().data as Thing[]).toSorted((a, b) => Number(a.id) - Number(b.id)) : response.body
  }
  // From the third time on, PostgreSQL writes the page as one text.
  for (let time = 0; time < 3; time += 1) t.strictSame(await inOrder(`${name}?perPage=100`), expected, `${type} is listed`)
  const walked: Thing[] = []
  for (let next: string | undefined = `walked-${name}?perPage=2`; next !== undefined; ) {
    const page: Page = (await send('GET', next)).json()
    walked.push(...page.data)
    next = page._links.find(({ rel }) => rel === 'next')?.href.replace(/^.*\/v1\//, '')
  }
  t.strictSame(walked.map(({ id }) => id).toSorted(), expected.map(({ id }) => id).toSorted(), `${type} is walked by cursors`)
  t.strictSame(
    walked.toSorted((a, b) => Number(a.id) - Number(b.id)),
    expected
  )

  const operators = things.filters.get('value') ?? []
  for (const row of isComparable ? expected : []) {
    const wanted = encodeURIComponent(String(row.value))
    const filter = operators.includes('eq') ? `value=${wanted}` : `value[gte]=${wanted}&value[lte]=${wanted}`
    const found = await inOrder(`${name}?perPage=100&${filter}`)
    // Filters have plain decimal digits.
    if (typeof row.value === 'number' && wanted.includes('e')) t.match(found, /INVALID_QUERY_PARAMETERS/, `${type}: ${wanted} is refused`)
    else
      t.ok(
        Array.isArray(found) && found.some((one) => isDeepStrictEqual(one, row)),
        `${type}: a filter finds ${JSON.stringify(row.value)} ${JSON.stringify(found).slice(0, 300)}`
      )
  }

  const job = await send('POST', 'copies', { payload: { table } })
  const status = String(job.headers['location']).replace('https://api.example.com/v1/', '')
  await until(async () => ['completed', 'failed'].includes((await send('GET', status)).json().data.status))
  const copied = (await database.query<Thing>(`SELECT value FROM ${table} ORDER BY id`)).map(({ value }) => value)
  const hasBigint = copied.flat().some((value) => typeof value === 'bigint')
  const result = await send('GET', `${status}/result`)
  if (hasBigint) t.equal(result.json().error.code, 'JOB_HAS_NO_RESULT', `${type} with a bigint fails the job`)
  else t.strictSame(dataOf(result), copied, `${type} is the result of a job`)

  const audited = await database.query<{ path: string; outcome: string }>(
    'SELECT path, outcome FROM concordat.audit_records WHERE path = $1 OR path LIKE $2 ORDER BY path',
    [`/v1/${name}`, `/v1/${name}/%`]
  )
  t.equal(audited.filter(({ outcome }) => outcome === 'committed').length, expected.length * 2, `each change of ${type} is recorded`)
}
