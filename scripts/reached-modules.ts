// Follows the imports of files, also type imports and through the other packages of this repository.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { importsOf, packageOf } from './imports.ts'
import { type Manifest, type Member, readMembers } from './workspace.ts'

type Project = Pick<Member, 'folder' | 'manifest'>

/** Returns the way to each module that an entry point for services reaches: files from the root, and names of other modules. */
export function modulesReached(root: string): string[][] {
  const members = readMembers(root).filter(({ folder }) => folder.startsWith('packages/'))
  const waysFrom = followImports(root, members)
  return members.flatMap(({ folder, manifest }) =>
    Object.keys(manifest.exports ?? {})
      .filter((entry) => entry !== './testing')
      .flatMap((entry) => [...waysFrom(sourceOf(folder, manifest, entry)).values()])
  )
}

/** Returns a function that returns every module that a file reaches, itself included, with the way to it. Imports of `projects` by name are followed too. */
export function followImports(root: string, projects: readonly Project[]): (first: string) => Map<string, string[]> {
  const byName = new Map(projects.map((project) => [project.manifest.name, project]))
  const known = new Map<string, readonly string[]>()
  return (first) => {
    const ways = new Map([[first, [first]]])
    for (const [file, way] of ways) for (const target of targetsOf(file)) if (!ways.has(target)) ways.set(target, [...way, target])
    return ways
  }

  function targetsOf(file: string) {
    let targets = known.get(file)
    if (targets === undefined) {
      const path = join(root, file)
      const isRead = file.endsWith('.ts') && existsSync(path)
      targets = isRead ? importsOf(file, readFileSync(path, 'utf8')).map(({ specifier }) => targetOf(file, specifier)) : []
      known.set(file, targets)
    }
    return targets
  }

  function targetOf(file: string, specifier: string) {
    if (specifier.startsWith('.')) return join(dirname(file), specifier).replaceAll('\\', '/')
    const name = packageOf(specifier)
    const project = byName.get(name ?? '')
    return project ? sourceOf(project.folder, project.manifest, specifier.replace(name as string, '.')) : specifier
  }
}

function sourceOf(folder: string, { exports = {} }: Manifest, entry: string) {
  const targets = exports[entry]
  const source = typeof targets === 'object' ? targets['@concordat/source'] : targets
  if (source === undefined) throw new Error(`${folder} has no entry point ${entry}.`)
  return join(folder, source).replaceAll('\\', '/')
}
