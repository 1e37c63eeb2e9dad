// `pnpm mutants`: draws mutants of every package and runs the first tier of tests on each of them: the tests of its package, then
// those of the packages and examples that depend on it. scripts/survivors.json explains the survivors, by name.
//   --seed 18         a different seed draws different mutants
//   --per-package 5   the number of mutants of each package
//   --package links   only this package; can be repeated
//   --allow 5         the number of mutants that may survive
// Not mutated: the code that scripts/mutations.ts excludes, and the tests that packages export.
import { cpSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import { draw, type Mutant, mutantsOf } from './mutations.ts'
import { type Service, temporaryFolder } from './service-process.ts'
import { findServices } from './services.ts'
import { startTests } from './test-process.ts'
import { filesUnder, readMembers, repository } from './workspace.ts'

interface Run {
  readonly env: NodeJS.ProcessEnv
  readonly signal: AbortSignal
  /** Called with each mutant and the test file that fails, or undefined when the mutant survives. */
  readonly report: (mutant: Mutant, killer: string | undefined) => void
}

/** The time limit for a test file. A mutant that makes a test hang counts as killed. */
const maxSeconds = 120
const notCopied = new Set(['.git', '.tap', '.pnpm', 'dist'])

/**
 * Tests mutants of the workspace `root`, two at a time, each in a copy of the workspace. A mutant is killed when a test file fails twice with the mutant and
 * passes without it. Rejects when `signal` aborts.
 */
export async function tryMutants(root: string, mutants: readonly Mutant[], { env, signal, report }: Run): Promise<void> {
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
    for (let mutant = queue.shift(); mutant; mutant = queue.shift()) report(mutant, await killerOf(copy, mutant))
  }

  async function killerOf(copy: string, { file, source }: Mutant) {
    const original = readFileSync(join(copy, file))
    for (const test of testFilesFor(root, file)) {
      writeFileSync(join(copy, file), source)
      const fails = !(await passes(copy, test)) && !(await passes(copy, test))
      writeFileSync(join(copy, file), original)
      if (fails && (await passesUnchanged(copy, test))) return test
    }
    return undefined
  }

  function passesUnchanged(copy: string, test: string) {
    const known = unchanged.get(test) ?? passes(copy, test).then((once) => once || passes(copy, test))
    unchanged.set(test, known)
    return known
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
  const members = readMembers(root).toSorted((a, b) => Number(a.layer) - Number(b.layer))
  const affected = new Set(members.filter(({ folder }) => source.startsWith(`${folder}/`)))
  for (const { manifest } of affected)
    for (const member of members) {
      const { dependencies, devDependencies, peerDependencies } = member.manifest
      if (manifest.name in { ...dependencies, ...devDependencies, ...peerDependencies }) affected.add(member)
    }
  const tests = [...affected].flatMap(({ folder }) => filesUnder(root, `${folder}/test/**/*.test.ts`))
  return tests.filter((file) => !file.endsWith('.long.test.ts'))
}

async function main() {
  const { values } = parseArgs({
    options: {
      seed: { type: 'string', default: '18' },
      'per-package': { type: 'string', default: '5' },
      package: { type: 'string', multiple: true },
      allow: { type: 'string', default: '5' }
    }
  })
  const explanations: Readonly<Record<string, string>> = JSON.parse(readFileSync(join(repository, 'scripts/survivors.json'), 'utf8'))
  const wanted = readMembers(repository).filter(
    ({ folder }) => values.package?.includes(basename(folder)) ?? folder.startsWith('packages/')
  )
  const mutants = wanted.flatMap(({ folder }) => {
    const files = filesUnder(repository, `${folder}/src/**/*.ts`).filter((file) => !file.includes('/src/testing/'))
    const all = files.flatMap((file) => mutantsOf(file, readFileSync(join(repository, file), 'utf8')))
    return draw(all, Number(values.seed), Number(values['per-package']))
  })
  if (mutants.length === 0) throw new Error('No mutant was drawn. Check --package and --per-package.')
  const interruption = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => interruption.abort(new Error(`Stopped by ${name}.`)))
  const survivors: Mutant[] = []
  const services: Service[] = []
  try {
    const { env, missing } = await findServices(services)
    if (missing.length > 0) throw new Error(missing.join('\n'))
    const report = (mutant: Mutant, killer: string | undefined) => {
      if (killer === undefined) survivors.push(mutant)
      console.log(`${killer === undefined ? '✗ survived' : `✓ killed by ${killer}`}: ${mutant.line} ${mutant.operator} ${mutant.name}`)
    }
    await tryMutants(repository, mutants, { env: { ...env, TEST_SCALE: 'quick' }, signal: interruption.signal, report })
  } finally {
    await Promise.all(services.map((service) => service.stop()))
  }
  const unexplained = survivors.filter(({ name }) => explanations[name] === undefined)
  for (const { name } of unexplained) console.log(`Explain in scripts/survivors.json, or add a test: ${JSON.stringify(name)}`)
  if (unexplained.length > 0 || survivors.length > Number(values.allow)) process.exitCode = 1
  console.log(`${mutants.length - survivors.length} of ${mutants.length} mutants were killed.`)
}

if (import.meta.main) await main()
