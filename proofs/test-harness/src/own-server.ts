import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync, rmSync } from 'node:fs'
import { delimiter, join } from 'node:path'
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

const maxStartMs = 60_000
const maxComplaint = 4000
const usualFolders = [
  '/usr/sbin',
  '/usr/local/sbin',
  '/opt/homebrew/bin',
  '/usr/local/bin',
  '/usr/lib/postgresql/*/bin',
  '/opt/homebrew/opt/postgresql*/bin',
  '/usr/local/opt/postgresql*/bin'
]

/** Returns the path of a program: in PATH, or in the folders where Debian and Homebrew install it, the newest first. */
export function programPath(name: string): string | undefined {
  const folders = usualFolders.flatMap((pattern) => globSync(pattern).toSorted().toReversed())
  return [...(process.env['PATH'] ?? '').split(delimiter), ...folders].map((folder) => join(folder, name)).find((file) => existsSync(file))
}

/** Starts a server and waits until it responds. */
export async function startOwnServer({ url, folder, command, owner, crash, responds }: ServerProgram): Promise<OwnServer> {
  const [program, ...words] = command
  let server = await begin()

  async function begin(): Promise<ChildProcess> {
    const child = spawn(program, words, { ...owner, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
    let complaint = ''
    child.stderr.on('data', (data: Buffer) => (complaint = (complaint + data.toString()).slice(-maxComplaint)))
    const deadline = Date.now() + maxStartMs
    await until(async () => {
      if (await responds()) return true
      if (child.exitCode === null && Date.now() < deadline) return false
      child.kill('SIGKILL')
      throw new Error(`${program} was started but does not respond.\n${complaint}`)
    }, 20)
    return child
  }

  async function end() {
    // Ctrl+C also ends the servers of a run.
    if (server.exitCode !== null || server.signalCode !== null) return
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
