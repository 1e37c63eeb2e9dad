import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { exchange } from './exchange.ts'
import { get } from './request-bytes.ts'

/** A process with some servers of the fleet, which can be checked to be alive. */
export interface ChildServer {
  readonly pid: number
  port(name: string): number
  /** Closes a server after it has read from `begun` connections; it responds to the requests that have started. */
  close(name: string, begun: number): void
  /** Whether the same process still responds on its first server, `main`. */
  isAlive(): Promise<boolean>
  stop(): Promise<void>
}

const program = new URL('./hostile-server.ts', import.meta.url)

/** Starts the named servers in one new process, or every server of the fleet without names. The first receives the probe. */
export async function startChild(names: readonly string[] = []): Promise<ChildServer> {
  const child: ChildProcess = fork(program, [...names], {
    execArgv: ['--conditions=@concordat/source'],
    stdio: ['ignore', 'ignore', process.env['HOSTILE_STDERR'] === undefined ? 'ignore' : 'inherit', 'ipc']
  })
  let exited = false
  child.once('exit', () => (exited = true))
  const [message] = (await Promise.race([once(child, 'message'), once(child, 'exit')])) as [{ ports?: Record<string, number> } | number]
  if (typeof message !== 'object' || message?.ports === undefined)
    throw new Error(`the hostile server did not start (exit code ${JSON.stringify(message)})`)
  const { ports } = message
  const port = (name: string) => {
    const found = ports[name]
    if (found === undefined) throw new Error(`no server named ${name} in this process`)
    return found
  }
  return {
    pid: child.pid ?? 0,
    port,
    close: (name, begun) => void child.send({ close: name, begun }),
    async isAlive() {
      if (exited) return false
      const { responses } = await exchange({ port: Object.values(ports)[0] as number, methods: ['GET'], steps: [get('/v1/probe')] })
      return !exited && responses[0]?.status === 200 && responses[0].body.includes(`"id":"${child.pid}"`)
    },
    async stop() {
      if (exited || !child.connected) return
      const gone = once(child, 'exit')
      child.disconnect()
      await gone
    }
  }
}
