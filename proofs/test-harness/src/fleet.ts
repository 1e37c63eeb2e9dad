import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** How the processes of a fleet are started. */
export interface FleetProgram {
  /**
   * The program and its arguments. It listens on 127.0.0.1, on the port in the environment variable `PORT`, and writes to standard output
   * as soon as it accepts requests, not before.
   */
  readonly command: readonly [string, ...string[]]
  /** Environment variables in addition to those of this process. */
  readonly env?: Readonly<Record<string, string>> | undefined
}

/** A process of a fleet; it has the same address after a restart. */
export interface FleetMember {
  /** The base URL, for example `http://127.0.0.1:40123`. */
  readonly url: string
  /** Whether it accepts requests. */
  readonly isUp: boolean
  /** The number of responses of this process since its start; maintained by the client. */
  served: number
  /** The number of requests that wait for a response from this process; maintained by the client. */
  underWay: number
}

/** Several processes of one service. */
export interface Fleet {
  readonly members: readonly FleetMember[]
  /** Kills a process without warning (SIGKILL) and starts it again immediately; resolves when the old process is dead. */
  kill(member: FleetMember): Promise<void>
  /** Kills all processes. */
  stop(): Promise<void>
}

interface Running {
  readonly url: string
  isUp: boolean
  served: number
  underWay: number
  child: ChildProcess
}

/** Starts `count` processes of a service. Resolves when all accept requests, and rejects when a process ends before that. */
export async function startFleet(count: number, fleetProgram: FleetProgram): Promise<Fleet> {
  const {
    command: [program, ...words],
    env = {}
  } = fleetProgram
  let isOver = false
  const members: Running[] = []

  function start(port: string) {
    // A killed process writes no coverage report. The variable is set to empty because Node.js sets it again if it is only removed.
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
      // A process that does not come back stays down, and the run continues with the others.
      ready(one).catch(() => {})
    }
  }
}

async function ready(member: Running) {
  const { child } = member
  const content = once(child.stdout as NonNullable<ChildProcess['stdout']>, 'data')
  const ended = once(child, 'exit').then(() => {
    throw new Error('A process of the fleet ended before it accepted requests.')
  })
  await Promise.race([content, ended])
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

/** Returns a port of 127.0.0.1 that is not in use at this moment. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}
