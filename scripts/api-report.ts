// The public API of each package as a committed report in docs/api, so that a change of it is seen in review.
// Made from the built declarations that its doors reach. `--write` writes; without it an old report is a mistake.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, posix } from 'node:path'
import { importsOf } from './imports.ts'
import { run } from './run.ts'
import { filesUnder, type Member, readMembers, repository } from './workspace.ts'

/** The report of one package. Throws when it is not built. */
export function reportOf(root: string, { folder, manifest }: Member): string {
  const doors = Object.values(manifest.exports ?? {}).flatMap((targets) => (typeof targets === 'string' ? [] : (targets['types'] ?? [])))
  const reached = new Map<string, string>()
  for (const door of doors) reach(posix.normalize(door))
  const parts = [...reached].map(([file, text]) => `// ${posix.relative('dist', file)}\n${text}`)
  return `# ${manifest.name}: the public API\n\nMade by \`pnpm api-report --write\`; not to be edited.\n\n\`\`\`ts\n${parts.join('\n')}\`\`\`\n`

  function reach(file: string) {
    if (reached.has(file)) return
    const path = join(root, folder, file)
    if (!existsSync(path)) throw new Error(`${folder}/${file} is missing. Run: pnpm build`)
    const text = readFileSync(path, 'utf8').replace(/^\/\/# sourceMappingURL=.*\n?/m, '')
    reached.set(file, `${text.trimEnd()}\n`)
    const relative = importsOf(file, text).filter(({ specifier }) => specifier.startsWith('.'))
    for (const { specifier } of relative) reach(posix.join(dirname(file), specifier.replace(/\.[jt]s$/, '.d.ts')))
  }
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
