import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { until } from './until.ts'

/** A database server of the test's own, which it may stop. */
export interface OwnServer {
  readonly url: string
  /** Ends it as a crash would, and starts it again with what it has on disk. */
  restart(): Promise<void>
  /** Ends it and removes its data. */
  stop(): Promise<void>
}

/** How a server is started and ended. */
export interface ServerProgram {
  readonly url: string
  readonly folder: string
  readonly command: readonly [program: string, ...words: string[]]
  /** The account that runs it. Without one, that of this process. */
  readonly owner?: { readonly uid?: number; readonly gid?: number }
  /** The signal after which it must recover. */
  readonly crash: NodeJS.Signals
  /** Whether a client can connect and query. */
  readonly answers: () => Promise<boolean>
}

/** Starts a server and waits until it responds. */
export async function startOwnServer({ url, folder, command, owner, crash, answers }: ServerProgram): Promise<OwnServer> {
  const [program, ...words] = command
  let server = await begin()

  async function begin(): Promise<ChildProcess> {
    const child = spawn(program, words, { ...owner, cwd: folder, stdio: 'ignore' })
    await until(async () => {
      if (child.exitCode !== null) throw new Error(`${program} ended as soon as it was started.`)
      return answers()
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
    async stop() {
      await end()
      rmSync(folder, { recursive: true, force: true })
    }
  }
}
