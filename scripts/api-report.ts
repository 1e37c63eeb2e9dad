// The public API of each package as a committed report in docs/api, so that a change of it is seen in review.
// Made from the built declarations of its entry points. `--write` writes; without it, an outdated report is an error.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, posix } from 'node:path'
import { publicDeclarations } from './declarations.ts'
import { run } from './run.ts'
import { filesUnder, type Member, readMembers, repository } from './workspace.ts'

/** The report of one package: what each entry point exports, by name, then what that refers to. Throws when it is not built. */
export function reportOf(root: string, { folder, manifest }: Member): string {
  const files = Object.entries(manifest.exports ?? {}).flatMap(([entry, targets]): [string, string][] =>
    typeof targets === 'string' || targets['types'] === undefined ? [] : [[entry, targets['types']]]
  )
  const { entries, unexported, augmentations } = publicDeclarations(join(root, folder), new Map(files))
  const parts = [
    ...[...entries].map(([entry, declarations]) => part(posix.join(manifest.name, entry), [...declarations.values()])),
    part('Added to other packages', augmentations),
    part('Referred to, not exported', [...unexported.values()])
  ]
  return `# ${manifest.name}: the public API\n\nMade by \`pnpm api-report --write\`; not to be edited.\n${parts.join('')}`
}

function part(title: string, declarations: readonly string[]) {
  return declarations.length === 0 ? '' : `\n## ${title}\n\n\`\`\`ts\n${declarations.join('\n')}\n\`\`\`\n`
}

/** Every report as it should be, by its path from the root. */
export function reportsOf(root: string): Map<string, string> {
  const packages = readMembers(root).filter(({ folder, manifest }) => folder.startsWith('packages/') && !manifest.private)
  return new Map(packages.map((member) => [`docs/api/${basename(member.folder)}.md`, reportOf(root, member)]))
}

/** Reports that differ from what is committed, and those whose package is gone. */
export function oldReports(root: string, reports: ReadonlyMap<string, string>): string[] {
  const committed = filesUnder(root, 'docs/api/*.md')
  const changed = [...reports].filter(([file, text]) => !committed.includes(file) || readFileSync(join(root, file), 'utf8') !== text)
  return [...changed.map(([file]) => file), ...committed.filter((file) => !reports.has(file))]
}

async function showDifference(file: string, text: string) {
  const folder = mkdtempSync(join(tmpdir(), 'concordat-api-'))
  writeFileSync(join(folder, 'now.md'), text)
  const before = existsSync(join(repository, file)) ? file : '/dev/null'
  const { output } = await run('git', ['diff', '--no-index', '--no-color', before, join(folder, 'now.md')])
  rmSync(folder, { recursive: true })
  console.log(output.split('\n').slice(4).join('\n'))
}

if (import.meta.main) {
  const reports = reportsOf(repository)
  const old = oldReports(repository, reports)
  mkdirSync(join(repository, 'docs/api'), { recursive: true })
  for (const file of old) {
    const text = reports.get(file)
    if (!process.argv.includes('--write')) {
      console.log(`${file} is not the public API as it is built:`)
      await showDifference(file, text ?? '')
    } else if (text === undefined) rmSync(join(repository, file))
    else writeFileSync(join(repository, file), text)
  }
  if (old.length > 0 && !process.argv.includes('--write')) {
    console.log('If that is meant: pnpm api-report --write, and add a changeset.')
    process.exitCode = 1
  }
}
