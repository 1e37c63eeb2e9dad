import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { until } from './until.ts'

/** Database server that belongs to the test, which may stop it. */
export interface OwnServer {
  readonly url: string
  /** Ends the server like a crash, and starts it again with its data on disk. */
  restart(): Promise<void>
  /** Stops the process without closing its connections: it receives data and responds to nothing until `resume`. */
  pause(): void
  resume(): void
  /** Ends the server and removes its data. */
  stop(): Promise<void>
}

/** Describes how a server is started and ended. */
export interface ServerProgram {
  readonly url: string
  readonly folder: string
  readonly command: readonly [program: string, ...words: string[]]
  /** Account that runs the server. @default the account of this process */
  readonly owner?: { readonly uid?: number; readonly gid?: number }
  /** Signal after which the server must recover. */
  readonly crash: NodeJS.Signals
  /** Returns whether a client can connect and send queries. */
  readonly responds: () => Promise<boolean>
}

/** Starts a server and waits until it responds. */
export async function startOwnServer({ url, folder, command, owner, crash, responds }: ServerProgram): Promise<OwnServer> {
  const [program, ...words] = command
  let server = await begin()

  async function begin(): Promise<ChildProcess> {
    const child = spawn(program, words, { ...owner, cwd: folder, stdio: 'ignore' })
    await until(async () => {
      if (child.exitCode !== null) throw new Error(`${program} exited immediately after its start.`)
      return responds()
    })
    return child
  }

  async function end() {
    const gone = once(server, 'exit')
    server.kill(crash)
    await gone
  }

  return {
    url,
    async restart() {
      await end()
      server = await begin()
    },
    pause: () => void server.kill('SIGSTOP'),
    resume: () => void server.kill('SIGCONT'),
    async stop() {
      // A process that is stopped does not handle other signals.
      server.kill('SIGCONT')
      await end()
      rmSync(folder, { recursive: true, force: true })
    }
  }
}
