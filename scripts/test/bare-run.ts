import { type Ran, type RunOptions, run } from '../run.ts'

/** Runs a program without the test runner, which puts itself into every child of a test by NODE_OPTIONS. */
export function bareRun(program: string, words: readonly string[], options?: RunOptions): Promise<Ran> {
  return run('env', ['-u', 'NODE_OPTIONS', '-u', 'TAP', program, ...words], options)
}
