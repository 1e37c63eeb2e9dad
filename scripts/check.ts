// `pnpm check`: everything that must hold before a change is merged. `pnpm check lint types` runs those steps alone;
// `--skip-tests` leaves out the one step that takes long.
import { join } from 'node:path'
import { run } from './run.ts'

interface Step {
  readonly name: string
  readonly command: readonly string[]
}

const base = process.env['GITHUB_BASE_REF'] ? `origin/${process.env['GITHUB_BASE_REF']}` : 'origin/main'
const script = (name: string, ...words: string[]) => ['node', join('scripts', name), ...words]

const steps: readonly Step[] = [
  { name: 'format', command: ['biome', 'check', '--config-path=scripts/format.json', '.'] },
  // Before the linter, which looks up the exports of a package in what is built.
  { name: 'types', command: ['tsc', '-b'] },
  { name: 'lint', command: ['oxlint', '-c', 'scripts/lint.json', '--type-aware', '--deny-warnings'] },
  { name: 'floors', command: script('check-floors.ts') },
  { name: 'tests', command: script('test.ts') },
  { name: 'alone', command: script('check-alone.ts') },
  { name: 'api', command: script('api-report.ts') },
  { name: 'unused', command: ['knip', '--no-config-hints'] },
  { name: 'links', command: script('check-links.ts') },
  { name: 'snippets', command: script('check-snippets.ts') },
  { name: 'rules', command: script('check-rules.ts') },
  { name: 'errors', command: ['node', '--conditions=@concordat/source', join('scripts', 'errors-page.ts')] },
  ...((await hasBase()) ? [{ name: 'changeset', command: ['changeset', 'status', `--since=${base}`] }] : [])
]

const words = process.argv.slice(2)
const unknown = words.filter((word) => word !== '--skip-tests' && !steps.some(({ name }) => name === word))
if (unknown.length > 0) {
  console.error(`There is no step ${unknown.join(', ')}. The steps are ${steps.map(({ name }) => name).join(', ')}; or give --skip-tests.`)
  process.exit(1)
}
const named = steps.filter(({ name }) => words.includes(name))
const wanted = (named.length > 0 ? named : steps).filter(({ name }) => name !== 'tests' || !words.includes('--skip-tests'))
const failed: string[] = []
const begin = performance.now()
for (const { name, command } of wanted) {
  const start = performance.now()
  const { code, output } = await run(command[0] as string, command.slice(1))
  console.log(`${code === 0 ? '✓' : '✗'} ${name.padEnd(10)} ${secondsSince(start)}`)
  if (code === 0) continue
  failed.push(name)
  console.log(output.trimEnd().replaceAll(/^/gm, '    '))
}
console.log(
  failed.length === 0 ? `Everything holds (${secondsSince(begin)}).` : `Not right: ${failed.join(', ')} (${secondsSince(begin)}).`
)
if (failed.length > 0) process.exitCode = 1

/** A change is compared with its base only where there is one, and where it is not the base itself. */
async function hasBase() {
  const { code, output } = await run('git', ['rev-parse', '--verify', '--quiet', `${base}^{commit}`, 'HEAD'])
  const [one, other] = output.split('\n')
  return code === 0 && one !== other
}

function secondsSince(start: number) {
  return `${((performance.now() - start) / 1000).toFixed(1)} s`
}
