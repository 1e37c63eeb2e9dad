// Checks the rules for layers: a package imports only from lower layers, not from higher ones or its own, not even types.
// `--write` also writes the list of layers into docs/architecture.md. Without it, an outdated list is an error.
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parseSync } from 'oxc-parser'
import { arrow, fileViolations, mayStandOn, type Violation } from './arrows.ts'
import { cyclesOf } from './cycles.ts'
import { houseIsOld, writeHouse } from './house.ts'
import { filesUnder, type Member, readManifest, readMembers, repository } from './workspace.ts'

const maxLinesOfLayer1 = 200

/** Returns everything below a root folder that breaks a rule for layers. */
export function violationsOf(root: string): Violation[] {
  const members = readMembers(root)
  const byName = new Map(members.map((member) => [member.manifest.name, member]))
  const tools = readManifest(join(root, 'package.json')).devDependencies ?? {}
  return members.flatMap((member) => [
    ...manifestViolations(member, byName),
    ...filesUnder(join(root, member.folder), '{src,test,bench}/**/*.ts').flatMap((file) =>
      fileViolations(root, member, file, byName, tools)
    ),
    ...wholeViolations(root, member)
  ])
}

function manifestViolations({ folder, floor, manifest }: Member, byName: Map<string, Member>): Violation[] {
  const where = `${folder}/package.json`
  if (floor !== 'apart' && ![1, 2, 3, 4].includes(floor as number)) {
    return [{ where, rule: 'does not state its layer', mend: 'Set "floor" to 1, 2, 3 or "apart".' }]
  }
  const found: Violation[] = []
  for (const field of ['dependencies', 'devDependencies', 'peerDependencies', 'optionalDependencies'] as const) {
    for (const name of Object.keys(manifest[field] ?? {})) {
      const target = byName.get(name)
      if (target && !mayStandOn(floor, target.floor)) found.push({ where, ...arrow(floor, target, `has ${name} in ${field}`) })
      if (floor === 1 && field.startsWith('dep')) {
        found.push({
          where,
          rule: `is on layer 1 and depends on ${name}`,
          mend: 'Layer 1 has no dependencies. Write the code yourself, or move the package to a higher layer.'
        })
      }
    }
  }
  return found
}

function wholeViolations(root: string, { folder, floor }: Member): Violation[] {
  const files = filesUnder(join(root, folder), 'src/**/*.ts')
  const sources = new Map(files.map((file) => [file, readFileSync(join(root, folder, file), 'utf8')]))
  const found = cyclesOf(sources).map((cycle) => ({
    where: `${folder}/${cycle[0]}`,
    rule: `is part of an import cycle: ${cycle.join(' → ')}`,
    mend: 'Move the code that both need into a separate file.'
  }))
  const counted = [...sources].filter(([file]) => !basename(file).endsWith('-contract.ts'))
  const lines = counted.reduce((sum, [file, source]) => sum + linesOfCode(file, source), 0)
  if (floor === 1 && lines > maxLinesOfLayer1) {
    const rule = `is on layer 1 and has ${lines} lines of code in src, more than ${maxLinesOfLayer1}`
    found.push({ where: `${folder}/src`, rule, mend: 'Move out the code that does not belong to its single concept.' })
  }
  return found
}

/** Counts the lines that have more than comments. */
function linesOfCode(file: string, source: string) {
  const { comments } = parseSync(file, source)
  const code = comments.toReversed().reduce((text, { start, end }) => text.slice(0, start) + text.slice(end), source)
  return code.split('\n').filter((line) => line.trim() !== '').length
}

if (import.meta.main) {
  const violations = violationsOf(repository)
  for (const { where, rule, mend } of violations) console.log(`${where} ${rule}.\n  ${mend}`)
  if (process.argv.includes('--write')) writeHouse(repository)
  const old = houseIsOld(repository)
  if (old) console.log(old)
  if (violations.length > 0 || old) process.exitCode = 1
  else console.log('All packages import only from lower layers.')
}
