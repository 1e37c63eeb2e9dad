import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'

/** A service in a process of its own. */
export interface Child {
  readonly url: string
  /** Whether it is still the process that was started. */
  readonly runs: () => boolean
}

/** Starts a service of this folder, and ends it after the test. */
export async function start(t: Test, file: string, words: readonly string[]): Promise<Child> {
  // What is measured and counted is this process, not those that it starts: they are up sooner.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(NODE_|_?TAP)/.test(name)))
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), words, { env, execArgv: ['--conditions=@concordat/source'] })
  t.teardown(async () => {
    if (child.exitCode !== null) return
    child.disconnect()
    await once(child, 'exit')
  })
  const [url] = await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => Promise.reject(new Error(`${file} did not start.`)))
  ])
  return { url: String(url), runs: () => child.exitCode === null }
}
