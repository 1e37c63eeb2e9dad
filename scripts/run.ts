// Runs a program and records its output.
import { spawn } from 'node:child_process'
import { delimiter, join } from 'node:path'
import { readManifest, repository } from './workspace.ts'

export interface Ran {
  readonly code: number
  /** Standard output and standard error, in the order in which they arrived. */
  readonly output: string
}

export interface RunOptions {
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv
  /** Called with each piece of output, for a program whose progress is worth showing. */
  readonly listen?: (text: string) => void
}

/** Runs a program with the workspace's own tools first in PATH. Never rejects: a program that cannot be started has code 127. */
export function run(
  program: string,
  words: readonly string[],
  { cwd = repository, env = process.env, listen }: RunOptions = {}
): Promise<Ran> {
  const path = [join(repository, 'node_modules/.bin'), env['PATH']].join(delimiter)
  return new Promise((resolve) => {
    const child = spawn(program, words, { cwd, env: { ...env, PATH: path }, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    const keep = (data: Buffer) => {
      output += data.toString()
      listen?.(data.toString())
    }
    child.stdout.on('data', keep)
    child.stderr.on('data', keep)
    child.on('error', (error) => resolve({ code: 127, output: `${program}: ${error.message}\n` }))
    child.on('close', (code) => resolve({ code: code ?? 1, output }))
  })
}

/** Runs a program. Throws when it fails. */
export async function must(program: string, words: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const ran = await run(program, words, options)
  if (ran.code !== 0) throw new Error(`${program} ${words.join(' ')} failed with code ${ran.code}:\n${ran.output}`)
  return ran
}

/** Prints the problems that a check found. The process fails if there are any. */
export function reportProblems(problems: readonly string[]): void {
  for (const problem of problems) console.log(problem)
  if (problems.length > 0) process.exitCode = 1
}

/** Runs pnpm with npx, in the exact version of package.json, because npx looks up a version range in the registry each time. Throws when it fails. */
export function pnpm(words: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const { packageManager = 'pnpm' } = readManifest(join(repository, 'package.json'))
  return must('npx', ['--yes', packageManager, ...words], options)
}
