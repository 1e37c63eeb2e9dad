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

/**
 * Where processes of the tests find what earlier ones have compiled, which more than halves the time of their start. The coverage of
 * compiled code is imprecise, and would make that of other processes imprecise too.
 */
export const compileCache: Readonly<Record<string, string>> = {
  NODE_COMPILE_CACHE: fileURLToPath(new URL('../../node_modules/.cache/compiled', import.meta.url)),
  NODE_V8_COVERAGE: ''
}

/**
 * The options of Node.js for processes of tests. PGlite is WebAssembly, and a process that lives for seconds spends more time on
 * optimizing it than it gains.
 */
export const nodeOptions: readonly string[] = ['--conditions=@concordat/source', '--liftoff-only']

/** The environment of a process whose coverage and test points are not counted: it starts sooner. */
export function childEnvironment(): NodeJS.ProcessEnv {
  return { ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(NODE_|_?TAP)/.test(name))), ...compileCache }
}

/** Starts a program that sends its URL to this process once it listens, and stops it after the test. */
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
