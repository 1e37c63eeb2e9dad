import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'

/** A service in a process of its own. */
export interface Child {
  readonly url: string
  /** Whether the process that was started still runs. */
  readonly runs: () => boolean
}

/** Starts a program that sends its URL to this process once it listens, and stops it after the test. */
export async function startChild(t: Test, program: URL, words: readonly string[]): Promise<Child> {
  // Coverage and test points are those of this process. Without them the child starts sooner.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(NODE_|_?TAP)/.test(name)))
  const child = fork(fileURLToPath(program), words, { env, execArgv: ['--conditions=@concordat/source'] })
  t.teardown(async () => {
    if (child.exitCode !== null) return
    child.disconnect()
    await once(child, 'exit')
  })
  const [url] = await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => Promise.reject(new Error(`${program.pathname} did not start.`)))
  ])
  return { url: String(url), runs: () => child.exitCode === null }
}
