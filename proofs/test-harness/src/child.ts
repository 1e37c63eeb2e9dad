import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'

/** Service in a separate process. */
export interface Child {
  readonly url: string
  /** Returns whether the started process still runs. */
  readonly runs: () => boolean
}

/**
 * Environment with a compile cache that the processes of tests share, which more than halves their start time. The coverage of cached code
 * is imprecise, and would make the coverage of other processes imprecise too.
 */
export const compileCache: Readonly<Record<string, string>> = {
  NODE_COMPILE_CACHE: fileURLToPath(new URL('../../../node_modules/.cache/compiled', import.meta.url)),
  NODE_V8_COVERAGE: ''
}

/**
 * Options of Node.js for processes of tests. PGlite is WebAssembly, and a process that lives for seconds spends more time on optimizing it
 * than it saves.
 */
export const nodeOptions: readonly string[] = ['--conditions=@concordat/source', '--liftoff-only']

/** Returns the environment of a process whose coverage and test points are not counted. The process starts faster. */
export function childEnvironment(): NodeJS.ProcessEnv {
  return { ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(NODE_|_?TAP)/.test(name))), ...compileCache }
}

/** Starts a program that sends its URL to this process when it listens, and stops it after the test. */
export async function startChild(t: Test, program: URL, words: readonly string[]): Promise<Child> {
  const child = fork(fileURLToPath(program), words, { env: childEnvironment(), execArgv: [...nodeOptions] })
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
