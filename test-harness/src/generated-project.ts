// Projects for tests, with the packages of this workspace instead of those of the registry.
import { execFile, execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'

const repository = join(import.meta.dirname, '../..')
const command = join(repository, 'packages/create-concordat/src/command.ts')
const conditions = '--conditions=@concordat/source'

export interface Outcome {
  readonly code: number
  readonly out: string
  readonly err: string
}

execFileSync(process.execPath, [join(repository, 'scripts/copied-examples.ts')])

/** Runs a program of Node.js in a folder. */
export function run(cwd: string, args: readonly string[], env: NodeJS.ProcessEnv = {}, input = ''): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, args, { cwd, env: { ...process.env, ...env } }, (error, out, err) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : error === null ? 0 : -1, out, err })
    })
    child.stdin?.end(input)
  })
}

/** Runs the command `create-concordat`. */
export function create(cwd: string, ...args: readonly string[]): Promise<Outcome> {
  return run(cwd, [conditions, command, ...args])
}

/** Runs the command `concordat`. */
export function concordat(cwd: string, ...args: readonly string[]): Promise<Outcome> {
  return run(cwd, [conditions, join(repository, 'packages/concordat/src/command.ts'), ...args])
}

/** Creates a project outside of the repository until the end of the test, and links its packages. Returns its folder. */
export async function project(t: Test, name: string, ...flags: readonly string[]): Promise<string> {
  const cwd = mkdtempSync(join(tmpdir(), 'concordat-project-'))
  t.teardown(() => rmSync(cwd, { recursive: true, force: true }))
  const { code, err } = await create(cwd, name, '--yes', '--no-install', ...flags)
  if (code !== 0) throw new Error(err)
  const modules = join(cwd, name, 'node_modules')
  mkdirSync(join(modules, '@types'), { recursive: true })
  const installed = join(repository, 'examples/books-service/node_modules')
  for (const one of readdirSync(installed)) if (one !== '@types') symlinkSync(join(installed, one), join(modules, one))
  symlinkSync(join(installed, '@types/pg'), join(modules, '@types/pg'))
  symlinkSync(join(repository, 'node_modules/@types/node'), join(modules, '@types/node'))
  return join(cwd, name)
}

function bin(name: string) {
  return join(repository, 'node_modules', name)
}

/** Checks the types of a project, lints it, and runs its tests, or some of them. Returns what is wrong. */
export async function faultsOf(folder: string, files = 'test/**/*.test.ts'): Promise<string> {
  const types = await run(folder, [bin('typescript/bin/tsc'), '--customConditions', '@concordat/source'])
  const lint = await run(folder, [bin('oxlint/bin/oxlint')])
  const environment = { NODE_V8_COVERAGE: '', NODE_TEST_CONTEXT: undefined, TEST_DATABASE_URL: undefined }
  const tests = await run(folder, [conditions, '--liftoff-only', '--test', files], environment)
  return [
    // The sources of packages are checked with settings of their own.
    ...types.out.split('\n').filter((line) => /^(src|test)\//.test(line)),
    ...(lint.code === 0 ? [] : [lint.out]),
    ...(tests.code === 0 ? [] : [tests.out, tests.err])
  ].join('\n')
}
