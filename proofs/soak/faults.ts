// The faults of a bad day.
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { openDatabase } from '@concordat/postgres/open'
import { Client } from 'pg'
import type { Client as ServiceClient } from './client.ts'
import { maxConnections } from './cluster.ts'
import type { Member } from './fleet.ts'
import { exportOrders } from './reads.ts'
import { subscribeInVain } from './subscriptions.ts'
import type { Wire } from './wire.ts'
import { pick, type World } from './world.ts'

export interface Fault {
  readonly name: string
  /** Whether the next fault may begin while it lasts. */
  readonly isAccompanied?: boolean
  readonly run: (world: World) => Promise<void>
}

/** Returns all faults. `scale` is 1 for half an hour, less for a shorter run. */
export function faultsOf(world: World, wire: Wire, scale: number): Fault[] {
  const { cluster, fleet, receivers } = world
  const seconds = (whole: number) => delay(Math.max(whole * scale, Math.min(whole, 5)) * 1000)
  // The first process lives as long as possible, so that its memory can be compared.
  const victim = () => pick(world, fleet.members.slice(1)) as Member

  return [
    { name: 'SIGKILL', run: () => fleet.kill(victim()) },
    {
      name: 'two dead workers in a backlog of exports',
      async run() {
        const exports = world.customers.flatMap((client) => [1, 2, 3].map(() => exportOrders(world, client)))
        await delay(300)
        await Promise.all(fleet.members.slice(2).map((member) => fleet.kill(member, 5000)))
        await Promise.all(exports)
      }
    },
    { name: 'SIGTERM with drain', run: () => fleet.replace(victim()) },
    { name: 'PostgreSQL restarts', run: () => cluster.restart('fast') },
    { name: 'PostgreSQL crashes', run: () => cluster.restart('crash') },
    {
      name: 'Redis restarts empty',
      async run() {
        await cluster.redis.stop('SIGKILL')
        await seconds(10)
        await cluster.redis.start()
      }
    },
    {
      name: 'connections terminated',
      run: async () =>
        void (await cluster.query(
          'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = $1',
          ['client backend']
        ))
    },
    {
      name: 'network of a process reset, then silent',
      async run() {
        wire.reset()
        await delay(2000)
        wire.cut()
        await seconds(15)
        wire.heal()
      }
    },
    {
      name: 'storm of connections',
      async run() {
        const clients = Array.from(
          { length: maxConnections },
          () => new Client({ connectionString: cluster.url, connectionTimeoutMillis: 5000 })
        )
        for (const client of clients) client.on('error', () => {})
        const connected = await Promise.allSettled(clients.map((client) => client.connect()))
        world.recorder.notes.push(
          `The storm got ${connected.filter(({ status }) => status === 'fulfilled').length} of ${maxConnections} connections.`
        )
        await seconds(15)
        await Promise.all(clients.map((client) => client.end().catch(() => {})))
      }
    },
    {
      name: 'table of orders locked',
      // Behind the long transaction, a lock without a limit would stop all orders for minutes.
      run: () => holding(world, 'LOCK TABLE orders IN ACCESS EXCLUSIVE MODE', () => delay(7000), '5s')
    },
    {
      name: 'crowd',
      async run() {
        const crowd = world.customers.flatMap((client) => Array.from({ length: 60 }, () => client.send('GET', '/v2/orders?perPage=50')))
        await Promise.all(crowd)
      }
    },
    { name: 'guessed passwords', run: () => guessPasswords(world) },
    { name: 'receiver gone', run: () => subscribeInVain(world) },
    { name: 'poison job', run: () => addPoison(world) },
    {
      name: 'long transaction that holds back vacuum',
      isAccompanied: true,
      run: () => holding(world, 'SELECT pg_current_xact_id(), (SELECT count(*) FROM orders)', () => seconds(240))
    },
    {
      name: 'receivers down',
      isAccompanied: true,
      async run() {
        receivers.isDown = true
        await seconds(60)
        receivers.isDown = false
      }
    },
    ...(cluster.hasOwnDisk
      ? [
          {
            name: 'disk full',
            async run() {
              cluster.fill()
              await seconds(15)
              await cluster.free()
            }
          }
        ]
      : [])
  ]
}

/** Holds a transaction open while something happens. */
async function holding({ cluster, recorder }: World, statement: string, meanwhile: () => Promise<void>, lockTimeout = '0') {
  const client = new Client({ connectionString: cluster.url })
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query(`BEGIN ISOLATION LEVEL REPEATABLE READ; SET LOCAL lock_timeout = '${lockTimeout}'`)
    await client.query(statement)
    await meanwhile()
    await client.query('COMMIT')
  } catch (error) {
    recorder.notes.push(`A transaction of the soak was lost: ${(error as Error).message}.`)
  } finally {
    await client.end().catch(() => {})
  }
}

// More than the limit of credentials allows.
async function guessPasswords({ customers }: World) {
  const guesses = Array.from({ length: 60 }, (_, index) => {
    const body = { username: `guess-${index}@shop.example`, password: 'soak-canary-71be02' }
    return (customers[9] as ServiceClient).send('POST', '/v2/tokens', { body, isAnonymous: true })
  })
  await Promise.all(guesses)
}

// An export that no attempt can complete, as an earlier release could have left it.
async function addPoison({ cluster, ledger }: World) {
  const database = await openDatabase({ url: cluster.url })
  const queue = await database.openQueue()
  try {
    const id = randomUUID()
    await database.query(
      `INSERT INTO concordat.jobs (id, type, owner, state, attempt, tries, progress, input, created_at)
       VALUES ($1, 'order-export', 'soak', 'queued', 0, 0, 0, '{"filters":{"status":{"eq":"pending"}},"customerId":"poison"}', $2)`,
      [id, Date.now()]
    )
    await queue.define('job-order-export')
    await queue.enqueue('job-order-export', [{ id, payload: id }])
    ledger.poison.add(id)
  } finally {
    await queue.close()
    await database.close()
  }
}
