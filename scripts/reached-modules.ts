// Follows the imports of an entry point, also type imports and through the other packages of this repository.
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { importsOf, packageOf } from './imports.ts'
import { type Manifest, readMembers } from './workspace.ts'

/** Returns the way to each module that an entry point for services reaches: files from the root, and names of other modules. */
export function modulesReached(root: string): string[][] {
  const members = readMembers(root).filter(({ folder }) => folder.startsWith('packages/'))
  const byName = new Map(members.map(({ folder, manifest }) => [manifest.name, { folder, manifest }]))
  return members.flatMap(({ folder, manifest }) =>
    Object.keys(manifest.exports ?? {})
      .filter((entry) => entry !== './testing')
      .flatMap((entry) => waysFrom(sourceOf(folder, manifest, entry)))
  )

  function waysFrom(first: string) {
    const ways = new Map([[first, [first]]])
    for (const [file, way] of ways) {
      if (!file.endsWith('.ts')) continue
      for (const { specifier } of importsOf(file, readFileSync(join(root, file), 'utf8'))) {
        const target = targetOf(file, specifier)
        if (!ways.has(target)) ways.set(target, [...way, target])
      }
    }
    return [...ways.values()]
  }

  function targetOf(file: string, specifier: string) {
    if (specifier.startsWith('.')) return join(dirname(file), specifier).replaceAll('\\', '/')
    const name = packageOf(specifier)
    const member = byName.get(name ?? '')
    return member ? sourceOf(member.folder, member.manifest, specifier.replace(name as string, '.')) : specifier
  }
}

function sourceOf(folder: string, { exports = {} }: Manifest, entry: string) {
  const targets = exports[entry]
  if (typeof targets !== 'object') throw new Error(`${folder} has no entry point ${entry}.`)
  return join(folder, targets['@concordat/source'] as string).replaceAll('\\', '/')
}
