import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** How the processes of a fleet are started. */
export interface FleetProgram {
  /**
   * The program and its arguments. It listens on 127.0.0.1 at the port in the variable `PORT`, and prints to its standard output once it
   * accepts requests, not before.
   */
  readonly command: readonly [string, ...string[]]
  /** Variables beside those of this process. */
  readonly env?: Readonly<Record<string, string>> | undefined
}

/** One process of a fleet; after a restart it has the same address. */
export interface FleetMember {
  /** As `http://127.0.0.1:40123`. */
  readonly url: string
  /** Whether it accepts requests. */
  readonly isUp: boolean
  /** Counts the answers of this process, from its start on; by whoever sends the requests. */
  served: number
  /** Requests that it has not answered yet; likewise. */
  underWay: number
}

/** Several processes of one service. */
export interface Fleet {
  readonly members: readonly FleetMember[]
  /** Kills one without warning (SIGKILL), and starts it again at once; resolves when it is dead. */
  kill(member: FleetMember): Promise<void>
  /** Kills all of them. */
  stop(): Promise<void>
}

interface Running {
  readonly url: string
  isUp: boolean
  served: number
  underWay: number
  child: ChildProcess
}

/** Starts so many processes of a service; resolves when all accept requests, and rejects when one ends before. */
export async function startFleet(count: number, { command: [program, ...words], env = {} }: FleetProgram): Promise<Fleet> {
  let isOver = false
  const members: Running[] = []

  function start(port: string) {
    // A process that is killed leaves no report of its coverage behind. Node.js sets the variable again where it is only removed.
    const coverage = { NODE_V8_COVERAGE: '' }
    return spawn(program, words, { env: { ...process.env, ...coverage, ...env, PORT: port }, stdio: ['ignore', 'pipe', 'inherit'] })
  }

  async function stop() {
    isOver = true
    await Promise.all(members.map(end))
  }

  for (let n = 0; n < count; n += 1) {
    const port = String(await freePort())
    members.push({ url: `http://127.0.0.1:${port}`, isUp: false, served: 0, underWay: 0, child: start(port) })
  }
  try {
    await Promise.all(members.map(ready))
  } catch (error) {
    await stop()
    throw error
  }
  return {
    members,
    stop,
    async kill(member) {
      const one = members.find(({ url }) => url === member.url) as Running
      await end(one)
      if (isOver) return
      one.served = 0
      one.child = start(new URL(one.url).port)
      // One that does not come back is down, and the run goes on with the others.
      ready(one).catch(() => {})
    }
  }
}

async function ready(member: Running) {
  const { child } = member
  const told = once(child.stdout as NonNullable<ChildProcess['stdout']>, 'data')
  const ended = once(child, 'exit').then(() => {
    throw new Error('A process of the fleet ended before it accepted requests.')
  })
  await Promise.race([told, ended])
  child.stdout?.resume()
  member.isUp = true
}

async function end(member: Running) {
  member.isUp = false
  const { child } = member
  if (child.exitCode !== null) return
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}

/** A port of 127.0.0.1 that nobody has at this moment. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}
