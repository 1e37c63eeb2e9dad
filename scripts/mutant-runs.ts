// Runs tests on mutants: copies each mutant into a copy of the workspace, and runs test files there until one fails.
import { cpSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Mutant } from './mutations.ts'
import { temporaryFolder } from './service-process.ts'
import { startTests } from './test-process.ts'
import { filesUnder, readMembers } from './workspace.ts'

export interface Verdict {
  readonly mutant: Mutant
  /** The test file that fails, or undefined when the mutant survives. */
  readonly killer: string | undefined
  /** How long the test files ran. */
  readonly seconds: number
}

/** The time limit for a test file. A mutant that makes a test hang counts as killed. */
const maxSeconds = 120
const notCopied = new Set(['.git', '.tap', '.pnpm', 'dist'])

interface Run {
  readonly env: NodeJS.ProcessEnv
  readonly signal: AbortSignal
  readonly report: (verdict: Verdict) => void
  /** Returns the test file that killed a mutant in an earlier run. It is run first. */
  readonly earlierKiller?: (mutant: Mutant) => string | undefined
}

/**
 * Tests mutants of the workspace `root`, two at a time, and reports each verdict. A mutant is killed when a test file fails twice with the
 * mutant and passes without it. Rejects when `signal` aborts.
 */
export async function tryMutants(root: string, mutants: readonly Mutant[], { env, signal, report, earlierKiller }: Run): Promise<void> {
  const folder = temporaryFolder('mutants')
  const queue = [...mutants]
  const failure = new AbortController()
  const either = AbortSignal.any([signal, failure.signal])
  const unchanged = new Map<string, Promise<boolean>>()
  try {
    await Promise.all(['one', 'two'].map((name) => work(join(folder, name))))
  } finally {
    failure.abort()
    rmSync(folder, { recursive: true, force: true })
  }

  async function work(copy: string) {
    // Links between packages stay inside the copy. All other installed packages are shared with the workspace.
    cpSync(root, copy, { recursive: true, verbatimSymlinks: true, filter: (file) => !notCopied.has(basename(file)) })
    symlinkSync(join(root, 'node_modules/.pnpm'), join(copy, 'node_modules/.pnpm'))
    for (let mutant = queue.shift(); mutant; mutant = queue.shift()) report(await tryMutant(copy, mutant))
  }

  async function tryMutant(copy: string, mutant: Mutant): Promise<Verdict> {
    const start = performance.now()
    const original = readFileSync(join(copy, mutant.file))
    const earlier = earlierKiller?.(mutant)
    const files = testFilesFor(root, mutant.file).toSorted((a, b) => Number(b === earlier) - Number(a === earlier))
    const killer = await firstOf(files, async (test) => {
      writeFileSync(join(copy, mutant.file), mutant.source)
      const fails = !(await passes(copy, test)) && !(await passes(copy, test))
      writeFileSync(join(copy, mutant.file), original)
      return fails && (await passesUnchanged(copy, test))
    })
    return { mutant, killer, seconds: (performance.now() - start) / 1000 }
  }

  function passesUnchanged(copy: string, test: string) {
    const known = unchanged.get(test) ?? run()
    unchanged.set(test, known)
    return known

    async function run() {
      const green = (await passes(copy, test)) || (await passes(copy, test))
      if (!green) console.log(`${test} fails without a mutant, so its failures do not count.`)
      return green
    }
  }

  async function passes(copy: string, test: string) {
    const run = { cwd: copy, env: { ...env, TAP_BAIL: '1' }, maxSeconds, signal: either, stderr: 'ignore' } as const
    const { stdout, ended } = startTests([test], run)
    stdout.resume()
    const { code } = await ended
    either.throwIfAborted()
    return code === 0
  }
}

/** Returns the test files of the first tier that can fail for a source: of its package, then of its dependents, lowest layer first. */
function testFilesFor(root: string, source: string) {
  const members = readMembers(root)
  const affected = new Set(members.filter(({ folder }) => source.startsWith(`${folder}/`)))
  for (const { manifest } of affected) {
    for (const member of members.toSorted((a, b) => Number(a.layer) - Number(b.layer))) {
      const { dependencies, devDependencies, peerDependencies } = member.manifest
      if (manifest.name in { ...dependencies, ...devDependencies, ...peerDependencies }) affected.add(member)
    }
  }
  return [...affected]
    .flatMap(({ folder }) => filesUnder(root, `${folder}/test/**/*.test.ts`))
    .filter((file) => !file.endsWith('.long.test.ts'))
}

async function firstOf(files: readonly string[], matches: (file: string) => Promise<boolean>) {
  for (const file of files) if (await matches(file)) return file
  return undefined
}
