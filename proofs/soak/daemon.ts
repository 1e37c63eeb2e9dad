// A program that the soak starts, ends and starts again: databases, the proxy, Prometheus and the processes of the service.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

export interface DaemonOptions {
  readonly name: string
  readonly program: string
  readonly words: readonly string[]
  readonly cwd: string
  /** The file that gets its output. */
  readonly log: string
  readonly env?: NodeJS.ProcessEnv
  readonly owner?: { readonly uid?: number; readonly gid?: number }
  /** Returns whether clients can use it. */
  readonly responds: () => Promise<boolean>
  /** Called when it ends without `stop`. */
  readonly onExit?: (how: string) => void
}

const readyMs = 90_000

export class Daemon {
  readonly #options: DaemonOptions
  #child: ChildProcess | undefined
  #isExpectedToEnd = false
  /** When it responded for the first time after its last start, in milliseconds of `performance.now()`. */
  readyAt = 0

  constructor(options: DaemonOptions) {
    this.#options = options
  }

  get pid(): number | undefined {
    return this.runs ? this.#child?.pid : undefined
  }

  get runs(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** Starts it, and waits until it responds. Rejects when it ends before. */
  async start(): Promise<void> {
    const { name, program, words, cwd, log, env, owner = {}, responds, onExit } = this.#options
    this.#isExpectedToEnd = false
    const child = spawn(program, words, { ...owner, cwd, stdio: ['ignore', 'pipe', 'pipe'], ...(env && { env }) })
    this.#child = child
    const file = createWriteStream(log, { flags: 'a' })
    child.stdout.pipe(file, { end: false })
    child.stderr.pipe(file, { end: false })
    child.on('error', () => {})
    child.once('close', (code, signal) => {
      file.end()
      if (child === this.#child && !this.#isExpectedToEnd) onExit?.(`${name} ended by itself with ${signal ?? `code ${code}`}`)
    })
    const deadline = performance.now() + readyMs
    while (!(await responds().catch(() => false))) {
      if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null)
        throw new Error(`${name} ended before it responded; see ${log}`)
      if (performance.now() > deadline) throw new Error(`${name} does not respond; see ${log}`)
      await delay(50)
    }
    this.readyAt = performance.now()
  }

  /** Ends it by this signal, and returns its exit code and the time until its end. */
  async stop(signal: NodeJS.Signals): Promise<{ readonly code: number | null; readonly ms: number }> {
    const child = this.#child
    if (child === undefined || !this.runs) return { code: child?.exitCode ?? null, ms: 0 }
    this.#isExpectedToEnd = true
    const begin = performance.now()
    const ended = once(child, 'exit')
    child.kill(signal)
    await ended
    return { code: child.exitCode, ms: performance.now() - begin }
  }
}
