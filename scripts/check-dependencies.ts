// `pnpm check dependencies`: what an installation of the published packages brings, with their peers: each package of others with its licence. Fails on
// a package that is not in the list, on a licence that needs a decision, and on a script that npm runs at the installation. `--write` writes the list.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pnpm, reportProblems } from './run.ts'
import { readManifest, repository } from './workspace.ts'

/** A package of others that is installed with ours. */
export interface Dependency {
  readonly name: string
  readonly license: string
  /** The scripts that npm runs when it is installed. */
  readonly scripts: readonly string[]
  /** Whether it is one of several builds, of which each system installs its own. */
  readonly isBuild: boolean
}

/** What `pnpm licenses list --json` returns: packages by licence. */
type Listed = Readonly<Record<string, readonly { readonly name: string; readonly paths: readonly string[] }[]>>

// They allow any use, and ask at most for a notice.
const licenses: ReadonlySet<string> = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'ISC',
  'MIT',
  '(MIT OR CC0-1.0)'
])
const page = join(repository, 'docs/dependencies.md')

/** Reads the package.json of each package that pnpm lists. */
export function dependenciesOf(listed: Listed): Dependency[] {
  return Object.entries(listed)
    .flatMap(([license, packages]) =>
      packages.map(({ name, paths }) => {
        const { scripts = {}, os } = readManifest(join(paths[0] as string, 'package.json')) as { scripts?: object; os?: unknown }
        const found = ['preinstall', 'install', 'postinstall'].filter((script) => script in scripts)
        // npm compiles a package with this file, without a script.
        const compiled = paths.some((path) => existsSync(join(path, 'binding.gyp'))) ? ['node-gyp'] : []
        return { name, license, scripts: [...found, ...compiled], isBuild: os !== undefined }
      })
    )
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
}

/** Returns what is unexpected, each with the remedy. `known` is the text of the page. */
export function findingsIn(dependencies: readonly Dependency[], known: string): string[] {
  return [
    ...dependencies.flatMap(({ name, license, scripts }) => [
      ...(licenses.has(license)
        ? []
        : [`${name} has the licence ${license}. Use another package, or add the licence to scripts/check-dependencies.ts.`]),
      ...(scripts.length === 0 ? [] : [`${name} runs ${scripts.join(' and ')} when it is installed. Use another package.`])
    ]),
    ...(pageOf(dependencies) === known
      ? []
      : ['docs/dependencies.md differs from what is installed. Review it after: node scripts/check-dependencies.ts --write'])
  ]
}

/** Returns the page that lists the packages. */
export function pageOf(dependencies: readonly Dependency[]): string {
  const rows = dependencies.filter(({ isBuild }) => !isBuild).map(({ name, license }) => `| \`${name}\` | ${license} |`)
  return `# Dependencies

What an installation of all published packages and their peers brings, with the licence of each. None runs a script when it is installed. Builds of a package for one system are left out.

<!-- Written by scripts/check-dependencies.ts. Do not edit. -->

| package | licence |
| --- | --- |
${rows.join('\n')}
`
}

async function main() {
  const { output } = await pnpm(['licenses', 'list', '--prod', '--json', '--filter', './packages/*'])
  const dependencies = dependenciesOf(JSON.parse(output) as Listed)
  if (process.argv.includes('--write')) writeFileSync(page, pageOf(dependencies))
  reportProblems(findingsIn(dependencies, existsSync(page) ? readFileSync(page, 'utf8') : ''))
}

if (import.meta.main) await main()
