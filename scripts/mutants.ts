// `pnpm mutants`: draws mutants of every package and runs the first tier of tests on each of them: the tests of its package, then
// those of the packages and examples that depend on it. scripts/survivors.json explains the survivors, by name.
//   --seed 18         a different seed draws different mutants
//   --per-package 5   the number of mutants of each package
//   --package links   only this package; can be repeated
//   --shard 1/2       only every second mutant, starting with the first
//   --list            prints the mutants and runs nothing
//   --allow 5         the number of mutants that may survive
//   --skip-explained  counts the survivors that are explained as survivors, without a run
//   --write           writes .tap/mutants.md, which also says which test to run first the next time
// Not mutated: the code that scripts/mutations.ts excludes, and the tests that packages export, by `exportedTests`.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { tryMutants, type Verdict } from './mutant-runs.ts'
import { draw, type Mutant, mutantsOf, operators } from './mutations.ts'
import { run } from './run.ts'
import type { Service } from './service-process.ts'
import { chromium, findProgram, findService, haproxy, nginx, pgbouncer, postgres, redis, varnish } from './services.ts'
import { filesUnder, readMembers, repository } from './workspace.ts'

const exportedTests = /\/src\/testing\//

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '18' },
    'per-package': { type: 'string', default: '5' },
    package: { type: 'string', multiple: true },
    shard: { type: 'string', default: '1/1' },
    list: { type: 'boolean', default: false },
    allow: { type: 'string', default: '5' },
    'skip-explained': { type: 'boolean', default: false },
    write: { type: 'boolean', default: false }
  }
})
const page = join(repository, '.tap/mutants.md')
const [shard, shards] = values.shard.split('/').map(Number) as [number, number]
const explanations: Readonly<Record<string, string>> = JSON.parse(readFileSync(join(repository, 'scripts/survivors.json'), 'utf8'))
const packages = readMembers(repository).filter(({ folder }) => folder.startsWith('packages/'))
const wanted = packages.filter(({ folder }) => values.package?.includes(folder.replace('packages/', '')) ?? true)
const sites = wanted.map(({ folder }) =>
  filesUnder(repository, `${folder}/src/**/*.ts`)
    .filter((file) => !exportedTests.test(file))
    .flatMap((file) => mutantsOf(file, readFileSync(join(repository, file), 'utf8')))
)
const drawn = sites.flatMap((mutants) => draw(mutants, Number(values.seed), Number(values['per-package'])))
const mutants = drawn.filter((_, index) => index % shards === shard - 1)
if (mutants.length === 0) throw new Error('No mutant was drawn. Check --package, --per-package and --shard.')
if (values.write && (values.package || shards > 1)) throw new Error('--write needs every mutant. Remove --package and --shard.')
if (values.list) for (const mutant of mutants) console.log(described(mutant))
else await runAll()

async function runAll() {
  const services: Service[] = []
  const verdicts: Verdict[] = []
  const env: NodeJS.ProcessEnv = { ...process.env, TEST_SCALE: 'quick' }
  const interruption = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => interruption.abort(new Error(`Stopped by ${name}.`)))
  try {
    for (const kind of [postgres, redis]) {
      // A service that was started for this run is removed together with the data that killed tests leave behind.
      const service = (await kind.start()) ?? (await findService(kind))
      if (!service) throw new Error(`${kind.name} is missing. Install ${kind.debianPackage}, or set ${kind.variable} to its address.`)
      services.push(service)
      env[kind.variable] = service.url
    }
    for (const program of [nginx, haproxy, varnish, pgbouncer, chromium]) {
      env[program.variable] = findProgram(program)
      if (!env[program.variable]) throw new Error(`${program.name} is missing. Install it, or set ${program.variable} to its path.`)
    }
    const report = (verdict: Verdict) => {
      verdicts.push(verdict)
      console.log(`${outcomeOf(verdict)}: ${described(verdict.mutant)}`)
    }
    const skipped = mutants.filter(({ name }) => values['skip-explained'] && explanations[name] !== undefined)
    for (const mutant of skipped) report({ mutant, killer: undefined, seconds: 0 })
    const tried = mutants.filter((mutant) => !skipped.includes(mutant))
    await tryMutants(repository, tried, { env, signal: interruption.signal, report, earlierKiller: killerIn(page) })
  } finally {
    await Promise.all(services.map((service) => service.stop()))
  }
  const survivors = verdicts.filter(({ killer }) => killer === undefined)
  const unexplained = survivors.filter(({ mutant }) => explanations[mutant.name] === undefined)
  for (const { mutant } of unexplained) console.log(`Explain in scripts/survivors.json, or add a test: ${JSON.stringify(mutant.name)}`)
  if (values.write) {
    mkdirSync(dirname(page), { recursive: true })
    writeFileSync(page, await reportOf(verdicts, survivors))
  }
  if (unexplained.length > 0 || survivors.length > Number(values.allow)) process.exitCode = 1
  console.log(`${verdicts.length - survivors.length} of ${verdicts.length} mutants were killed.`)
}

async function reportOf(verdicts: readonly Verdict[], survivors: readonly Verdict[]) {
  const { output: commit } = await run('git', ['describe', '--always', '--dirty', '--exclude=*'])
  const table = Object.entries(operators).map(
    ([name, sentence]) => `| ${name} | ${sentence.replaceAll('|', '\\|')} | ${countOf(name, sites.flat())} | ${countOf(name, mutants)} |`
  )
  const ordered = verdicts.toSorted((a, b) => mutants.indexOf(a.mutant) - mutants.indexOf(b.mutant))
  return `# Mutants

\`pnpm mutants --write\` writes this page. A mutant is a small change of the sources that a test must notice. Of ${verdicts.length} mutants
drawn with the seed ${values.seed} at commit ${commit.trim()}, the first tier of the tests killed ${verdicts.length - survivors.length}.

## Survivors

${survivors.map(({ mutant }) => `- ${described(mutant)}\n  ${explanations[mutant.name] ?? 'Not explained.'}\n`).join('') || 'None.\n'}
## Operators

| operator | what it does | sites | mutants |
| --- | --- | --- | --- |
${table.join('\n')}

## Mutants

${ordered.map((verdict) => `- ${outcomeOf(verdict)}: ${described(verdict.mutant)}\n`).join('')}`
}

/** Returns the function that finds the killer of a mutant in the page of an earlier run. The line of the mutant may have moved since. */
function killerIn(file: string) {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
  const killed = text.matchAll(/^- ✓ killed by (\S+) in [\d.]+ s: (.*)$/gm)
  const killers = new Map([...killed].map(([, killer = '', mutant = '']) => [withoutLine(mutant), killer]))
  return (mutant: Mutant) => killers.get(withoutLine(described(mutant)))
}

function withoutLine(mutant: string) {
  return mutant.replace(/:\d+ /, ' ')
}

function countOf(name: string, those: readonly Mutant[]) {
  return those.filter(({ operator }) => operator === name).length
}

function outcomeOf({ killer, seconds }: Verdict) {
  return killer === undefined ? `✗ survived in ${seconds.toFixed(1)} s` : `✓ killed by ${killer} in ${seconds.toFixed(1)} s`
}

function described({ file, line, operator, before, after }: Mutant) {
  const [from, to] = [before, after].map((code) => (code.includes('``') ? `\`\`\` ${code} \`\`\`` : `\`\` ${code} \`\``))
  return `${file}:${line} ${operator}: ${from} → ${to}`
}
