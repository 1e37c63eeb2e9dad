// Runs a test file in a process of its own, the way `node file.test.ts` does.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { nodeOptions } from '@concordat/test-harness/child'

export interface TestRun {
  /** Where `file` is looked up. */
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  /** tap ends the file then and names the tests that still ran; a process that stays is killed ten seconds later. */
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

/** Starts a test file. What it prints has to be read. Processes that it leaves behind end with it. */
export function startTest(file: string, { cwd, env, maxSeconds, signal, stderr }: TestRun): TestProcess {
  const child = spawn(process.execPath, [...nodeOptions, '--no-warnings', file], {
    cwd,
    env: { ...env, TAP_TIMEOUT: String(maxSeconds) },
    stdio: ['ignore', 'pipe', stderr],
    detached: true // in a process group of its own, which can be killed as a whole
  })
  return { stdout: child.stdout, ended: end(child, maxSeconds, signal) }
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
