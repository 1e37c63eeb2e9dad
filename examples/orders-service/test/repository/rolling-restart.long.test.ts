import { Agent, type IncomingMessage, request } from 'node:http'
import { until } from '@concordat/test-harness/until'
import t, { type Test } from 'tap'
import { type Child, startChild } from './child.ts'
import { environmentOf, freshDatabase, server } from './fresh-database.ts'

const onServer = { skip: server === undefined && 'set TEST_DATABASE_URL to the address of a PostgreSQL server' }

/** Sends a request, and resolves to its status, or to the code of the error of its connection. */
function send(url: string, agent: Agent) {
  return new Promise<number | string>((resolve) => {
    const sent = request(url, { agent }, (response: IncomingMessage) => {
      response.resume().on('end', () => resolve(response.statusCode as number))
    })
    sent.on('error', (error: NodeJS.ErrnoException) => resolve(String(error.code)))
    sent.end()
  })
}

/** The processes that are ready, as a load balancer that checks them sees them. */
class Balancer {
  readonly ready = new Set<string>()
  #next = 0

  /** Checks a process until it has ended. */
  async follow(child: Child) {
    const address = await child.address
    const probes = new Agent()
    let isRunning = true
    void child.ended.then(() => (isRunning = false))
    const check = async () => {
      if ((await send(`${address}/health/ready`, probes)) === 200) this.ready.add(address)
      else this.ready.delete(address)
      return !isRunning
    }
    await check()
    void until(check, 20)
  }

  get target() {
    const all = [...this.ready]
    return all[(this.#next += 1) % all.length] as string
  }
}

async function start(t: Test, balancer: Balancer, environment: Readonly<Record<string, string>>) {
  const child = startChild(t, { ...environment, DRAIN_SECONDS: '1', RATE_LIMIT: 'off' })
  await balancer.follow(child)
  return child
}

t.test('a rolling restart fails no request of clients with keep-alive connections', onServer, async (t) => {
  const environment = environmentOf(await freshDatabase(t))
  const balancer = new Balancer()
  const running = [await start(t, balancer, environment), await start(t, balancer, environment)]
  const outcomes = new Map<number | string, number>()
  let isOver = false

  // A proxy has connections to all processes. The pauses of a client leave its connections idle.
  const clients = Array.from({ length: 8 }, async (_, client) => {
    const agent = new Agent({ keepAlive: true })
    await until(async () => {
      const outcome = await send(`${balancer.target}/v2/products?perPage=1`, agent)
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
      return isOver
    }, client * 5)
    agent.destroy()
  })
  for (const child of running) {
    child.process.kill('SIGTERM')
    t.match(await child.ended, { code: 0, err: '' })
    await start(t, balancer, environment)
  }
  isOver = true
  await Promise.all(clients)
  t.strictSame([...outcomes.keys()], [200], JSON.stringify([...outcomes]))
  t.comment(`${outcomes.get(200)} requests`)
})
