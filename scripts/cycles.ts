// Finds import cycles inside one package. Type imports count, because a cycle of types is also hard to read.
import { dirname, posix } from 'node:path'
import { importsOf } from './imports.ts'

/**
 * Returns one path for each cycle among the files of a package, given as a map of file names to sources. `partOf` names the part of the package to
 * which a file belongs, to find the cycles among parts.
 */
export function cyclesOf(sources: ReadonlyMap<string, string>, partOf: (file: string) => string = (file) => file): string[][] {
  const imports = new Map<string, Set<string>>()
  for (const [file, source] of sources) {
    const targets = imports.get(partOf(file)) ?? new Set()
    imports.set(partOf(file), targets)
    for (const { specifier } of importsOf(file, source)) {
      const target = posix.join(dirname(file), specifier)
      if (specifier.startsWith('.') && sources.has(target) && partOf(target) !== partOf(file)) targets.add(partOf(target))
    }
  }
  const cycles: string[][] = []
  const finished = new Set<string>()
  for (const part of imports.keys()) visit(part, [])
  return cycles

  function visit(part: string, path: string[]) {
    const start = path.indexOf(part)
    if (start >= 0) cycles.push([...path.slice(start), part])
    if (start >= 0 || finished.has(part)) return
    for (const target of imports.get(part) ?? []) visit(target, [...path, part])
    finished.add(part)
  }
}
