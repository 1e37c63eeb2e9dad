// Runs test files in a process of their own.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { nodeOptions } from '@concordat/test-harness/child'

export interface TestRun {
  /** Where the files are looked up. */
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  /** Of each file. tap ends it then and names the tests that still ran; a process that stays is killed ten seconds later. */
  readonly maxSeconds: number
  /** Aborted: the process gets SIGTERM. */
  readonly signal: AbortSignal
  readonly stderr: 'inherit' | 'ignore'
}

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export interface TestProcess {
  readonly stdout: Readable
  readonly ended: Promise<Ended>
}

const most = 16
const program = join(import.meta.dirname, 'test-files.ts')

/** Starts test files, which run one after the other. What they print has to be read. Processes that they leave behind end with them. */
export function startTests(files: readonly string[], { cwd, env, maxSeconds, signal, stderr }: TestRun): TestProcess {
  const child = spawn(process.execPath, [...nodeOptions, '--no-warnings', program, ...files], {
    cwd,
    env: { ...env, TAP_TIMEOUT: String(maxSeconds) },
    stdio: ['ignore', 'pipe', stderr],
    detached: true // in a process group of its own, which can be killed as a whole
  })
  return { stdout: child.stdout, ended: end(child, maxSeconds * files.length, signal) }
}

/**
 * Returns the files that share a process: up to 16 of one package, except those that say that they are `In a process of its own`, and why.
 * Those with the most files come first, so that no processor waits for one of them at the end of a run.
 */
export function processesFor(root: string, files: readonly string[]): string[][] {
  const isAlone = (file: string) => /^\/\/ In a process of its own/m.test(readFileSync(join(root, file), 'utf8'))
  const { alone = [], together = [] } = Object.groupBy(files, (file) => (isAlone(file) ? 'alone' : 'together'))
  const packages = Object.values(Object.groupBy(together, (file) => file.split('/test/')[0] as string)) as string[][]
  return [...packages.flatMap(parts), ...alone.map((file) => [file])].toSorted((one, other) => other.length - one.length)
}

/** Divides files into the fewest parts, of about the same length. */
function parts(files: string[]) {
  const count = Math.ceil(files.length / most)
  return Array.from({ length: count }, (_, part) =>
    files.slice(Math.ceil((part * files.length) / count), Math.ceil(((part + 1) * files.length) / count))
  )
}

async function end(child: ChildProcess, maxSeconds: number, signal: AbortSignal): Promise<Ended> {
  const stop = () => killGroup(child, 'SIGTERM')
  const timer = setTimeout(killGroup, (maxSeconds + 10) * 1000, child, 'SIGKILL')
  signal.addEventListener('abort', stop)
  if (signal.aborted) stop()
  const [code, killedBy] = await once(child, 'exit')
  signal.removeEventListener('abort', stop)
  clearTimeout(timer)
  killGroup(child, 'SIGKILL')
  return { code, signal: killedBy }
}

function killGroup({ pid }: ChildProcess, signal: NodeJS.Signals) {
  try {
    if (pid !== undefined) process.kill(-pid, signal)
  } catch {
    // All of them have ended.
  }
}
