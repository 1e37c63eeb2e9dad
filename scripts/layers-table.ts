// The table of layers in docs/architecture.md.
import { basename } from 'node:path'
import { readMembers } from './workspace.ts'

/** Returns a row for each package and example, the highest layers first, with the packages that it depends on. */
export function layersTable(root: string): string {
  const members = readMembers(root).toSorted((one, other) => Number(other.layer) - Number(one.layer))
  const ours = new Map(members.map(({ folder, manifest }) => [manifest.name, basename(folder)]))
  const rows = members.map(({ folder, layer, manifest: { dependencies, peerDependencies } }) => {
    const below = Object.keys({ ...dependencies, ...peerDependencies }).flatMap((name) => ours.get(name) ?? [])
    return `| ${layer} | [${basename(folder)}](../${folder}) | ${below.toSorted().join(', ') || '–'} |`
  })
  return ['| layer | package | depends on |', '|---|---|---|', ...rows].join('\n')
}
