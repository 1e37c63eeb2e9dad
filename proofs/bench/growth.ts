// What a request costs when there is more of something, and the memory of a process that has served many requests.
import { Client } from 'pg'
import { amountOf, ask, type Cell, type Load, launch, loadOf, measure, send, stop } from './measure.ts'
import { type Row, rows, type Server } from './rows.ts'

export interface Growth {
  readonly what: string
  /** The median of a request with few and with many, in microseconds. */
  readonly few: readonly number[]
  readonly many: readonly number[]
}

export interface Soak {
  readonly what: string
  readonly early: number
  readonly late: number
  readonly ratio: number
}

const rowOf = (name: string) => rows.find((row) => row.name === name) as Row

const onPostgres = (url: string, events = '') => ({ file: './ours-postgres.ts', options: { databaseUrl: url, events } })
const inMemory = (options: Record<string, string>) => ({ file: './ours.ts', options })

/** Measures each pair in the same rounds. */
export async function growth(rounds: number, newDatabase: () => Promise<string>): Promise<Growth[]> {
  const databaseUrl = await newDatabase()
  const [fewKeys, manyKeys, oneSubscription, manySubscriptions] = [
    await newDatabase(),
    await newDatabase(),
    await newDatabase(),
    await newDatabase()
  ]
  for (const [url, events] of [[databaseUrl], [fewKeys], [manyKeys], [oneSubscription, 'yes'], [manySubscriptions, 'yes']] as const)
    await stop(await launch(onPostgres(url, events)))
  await addKeys(manyKeys, 1_000_000)
  await addSubscriptions(manySubscriptions, 9999)

  const pairs: readonly [what: string, row: Row, few: Server, many: Server, processes?: number][] = [
    ['an item, with 10 and with 1,000 routes', rowOf('item'), inMemory({ routes: '5' }), inMemory({ routes: '995' })],
    [
      'a collection, with 1 and with 1,000 items',
      { ...rowOf('collection'), amount: 400 },
      inMemory({ items: '1' }),
      inMemory({ items: '1000' })
    ],
    ['a POST with a new key, with none and with 1,000,000 keys', rowOf('postgres-order'), onPostgres(fewKeys), onPostgres(manyKeys)],
    [
      'a POST whose event has one subscriber, of 1 and of 10,000 subscriptions',
      rowOf('postgres-order'),
      onPostgres(oneSubscription, 'yes'),
      onPostgres(manySubscriptions, 'yes')
    ],
    ['an item on PostgreSQL, by 1 and by 4 processes', rowOf('postgres-item'), onPostgres(databaseUrl), onPostgres(databaseUrl), 4]
  ]
  // Different bodies are not compared, so each side is a row of its own.
  const cells = pairs.map(([what, row, few, many, processes = 1]): [Cell, Cell] => [
    { row: { ...row, name: `${what}, few`, group: 'few' }, peer: 'ours', server: few },
    // Each process gets as many requests as the single one.
    {
      row: { ...row, name: `${what}, many`, group: 'many', amount: amountOf(row) * processes },
      peer: 'ours',
      server: many,
      processes
    }
  ])
  const { costs } = await measure(cells.flat(), rounds)
  return cells.map(([few, many], index) => ({
    what: (pairs[index] as (typeof pairs)[number])[0],
    few: costs.get(few) as readonly number[],
    many: costs.get(many) as readonly number[]
  }))
}

async function addKeys(databaseUrl: string, count: number) {
  await query(
    databaseUrl,
    `INSERT INTO concordat.idempotency_keys (key, fingerprint, token, attempt, lease_until, expires_at, status, headers, body)
     SELECT encode(sha256(n::text::bytea), 'base64'), 'f', n, 1, now(), now() + interval '1 day', 201, '{}', repeat('x', 300)::bytea
     FROM generate_series(1, ${count}) AS n; ANALYZE`
  )
}

/** Adds subscriptions of other customers. The server has added the one that receives the events. */
async function addSubscriptions(databaseUrl: string, count: number) {
  await query(
    databaseUrl,
    `INSERT INTO concordat.webhook_subscriptions (id, owner, event_types, is_enabled, record)
     SELECT gen_random_uuid(), 'owner ' || n, ARRAY['order.created', 'order.created owner ' || n], true, '{}'
     FROM generate_series(1, ${count}) AS n; ANALYZE`
  )
}

async function query(databaseUrl: string, sql: string) {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query(sql).finally(() => client.end())
}

/** Sends mixed requests, and compares the memory after 200,000 of them with that after 20,000. */
export async function soak(databaseUrl: string): Promise<Soak[]> {
  // V8 enlarges the young generation under load and gives it back in a pause, 100 MB between two moments of one run. With one size, the
  // resident memory tells what requests keep.
  const server = await launch({ file: './ours-postgres.ts', options: { databaseUrl } }, 'test', [
    '--min-semi-space-size=16',
    '--max-semi-space-size=16'
  ])
  const mixed = ['postgres-item', 'postgres-collection', 'postgres-order', 'postgres-replay', 'missing'].map(rowOf)
  const cells: [Cell, Load][] = []
  for (const row of mixed) {
    const cell: Cell = { row: { ...row, amount: 1000 }, peer: 'ours', server: { file: '' } }
    cells.push([cell, await loadOf(cell, [server])])
  }
  const usages = []
  for (const rounds of [4, 36]) {
    for (let round = 0; round < rounds; round += 1) for (const [cell, load] of cells) await send(cell, load)
    await ask(server.child, 'collect')
    usages.push(await ask(server.child, 'collect'))
  }
  await stop(server)
  const [early, late] = usages as [(typeof usages)[number], (typeof usages)[number]]
  return (['heap', 'rss'] as const).map((what) => ({ what, early: early[what], late: late[what], ratio: late[what] / early[what] }))
}
