// `pnpm check`: all checks that must pass before a change is merged. `pnpm check lint links` runs only these steps, after the build if
// a step needs it; `--skip-tests` skips the one step that takes long. `pnpm fix` is the same with `--fix`: the steps that can correct
// files do that.
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { type Ran, run } from './run.ts'

interface Step {
  readonly name: string
  readonly command: readonly string[]
  /** What `pnpm fix` adds to the command. Steps without it only check, and `pnpm fix` leaves them out. */
  readonly fix?: string
  /** Whether the step reads the output of the step `types`. */
  readonly readsBuild?: boolean
  readonly env?: NodeJS.ProcessEnv
}

interface Finished extends Ran {
  readonly seconds: string
}

const base = process.env['GITHUB_BASE_REF'] ? `origin/${process.env['GITHUB_BASE_REF']}` : 'origin/main'
const processors = availableParallelism()
const script = (name: string, ...words: string[]) => ['node', join('scripts', name), ...words]

const build: Step = { name: 'types', command: script('build.ts') }
const tests: Step = { name: 'tests', command: script('test.ts', '--coverage') }
const format: Step = { name: 'format', command: ['biome', 'check', '.'], fix: '--write' }
const steps: readonly Step[] = [
  format,
  build,
  { name: 'unused', command: ['knip', '--no-config-hints'] },
  { name: 'layers', command: script('check-layers.ts') },
  { name: 'grammar', command: script('check-grammar.ts') },
  { name: 'options', command: script('check-options.ts') },
  { name: 'links', command: script('check-links.ts') },
  { name: 'quotes', command: script('check-quoted-errors.ts') },
  { name: 'prose', command: script('check-prose.ts') },
  { name: 'rules', command: script('check-rules.ts') },
  { name: 'dependencies', command: script('check-dependencies.ts') },
  ...((await hasBase()) ? [{ name: 'changeset', command: ['changeset', 'status', `--since=${base}`] }] : []),
  // The linter reads the exports of packages from the build. It uses half of the processors, because other steps run at the same time,
  // and because each of its threads checks the types that files have in common again.
  { name: 'lint', command: ['oxlint'], fix: '--fix', readsBuild: true, env: { GOMAXPROCS: String(Math.ceil(processors / 2)) } },
  { name: 'alone', command: script('check-alone.ts'), readsBuild: true },
  { name: 'snippets', command: script('check-snippets.ts'), readsBuild: true },
  { name: 'guides', command: script('guides.ts'), readsBuild: true },
  {
    name: 'generated',
    command: ['node', '--conditions=@concordat/source', join('scripts', 'generated.ts')],
    fix: '--write',
    readsBuild: true
  },
  tests
]

const words = process.argv.slice(2)
const fixes = words.includes('--fix')
const possible = fixes ? steps.filter(({ fix }) => fix) : steps
const unknown = words.filter((word) => !['--skip-tests', '--fix'].includes(word) && !possible.some(({ name }) => name === word))
if (unknown.length > 0) {
  console.error(`Unknown step: ${unknown.join(', ')}. Use any of these steps: ${possible.map(({ name }) => name).join(', ')}.`)
  process.exit(1)
}
const named = possible.filter(({ name }) => words.includes(name))
const chosen = (named.length > 0 ? named : possible).filter((step) => step !== tests || !words.includes('--skip-tests'))
const wanted = chosen.some(({ readsBuild }) => readsBuild) && !chosen.includes(build) ? [build, ...chosen] : chosen
// The tests run alone, because they use every processor. The formatter runs last, because the linter's fixes need it.
const last = fixes ? format : tests
const failed: string[] = []
const begin = performance.now()
await runAll(wanted.filter((step) => !step.readsBuild && step !== last))
const readers = wanted.filter(({ readsBuild }) => readsBuild)
if (failed.includes(build.name)) for (const { name } of readers) console.log(`– ${name.padEnd(10)} not run, because types failed`)
else await runAll(readers)
await runAll(wanted.filter((step) => step === last))
console.log(
  failed.length === 0
    ? `${fixes ? 'Fixed' : 'All checks passed'} (${secondsSince(begin)}).`
    : `Failed: ${failed.join(', ')} (${secondsSince(begin)}).`
)
if (failed.length > 0) process.exitCode = 1

/** Runs the steps, as many at the same time as there are processors unless they write, and reports them in their order. */
async function runAll(group: readonly Step[]) {
  const results = new Map(group.map((step) => [step, Promise.withResolvers<Finished>()]))
  const waiting = results.entries()
  for (let slot = 0; slot < (fixes ? 1 : processors); slot++) void work()
  for (const [step, { promise }] of results) report(step, await promise)

  async function work() {
    for (const [{ command, fix, env }, { resolve }] of waiting) {
      const start = performance.now()
      const [program = '', ...rest] = fixes && fix ? [...command, fix] : command
      const ran = await run(program, rest, { env: { ...process.env, ...env } })
      resolve({ ...ran, seconds: secondsSince(start) })
    }
  }
}

function report({ name }: Step, { code, output, seconds }: Finished) {
  console.log(`${code === 0 ? '✓' : '✗'} ${name.padEnd(10)} ${seconds}`)
  if (code === 0) return
  failed.push(name)
  console.log(output.trimEnd().replaceAll(/^/gm, '    '))
}

/** Whether a base exists that differs from the change, so that the change can be compared with it. */
async function hasBase() {
  const { code, output } = await run('git', ['rev-parse', `${base}^{commit}`, 'HEAD'])
  const [one, other] = output.split('\n')
  return code === 0 && one !== other
}

function secondsSince(start: number) {
  return `${((performance.now() - start) / 1000).toFixed(1)} s`
}
