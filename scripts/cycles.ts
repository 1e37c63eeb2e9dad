// Finds import cycles inside one package. Type imports count, because a cycle of types is also hard to read.
import { dirname, posix } from 'node:path'
import { importsOf } from './imports.ts'

/** Returns one path for each cycle among the files of a package, given as a map of file names to sources. */
export function cyclesOf(sources: ReadonlyMap<string, string>): string[][] {
  const imports = new Map<string, string[]>()
  for (const [file, source] of sources) {
    const targets = importsOf(file, source)
      .filter(({ specifier }) => specifier.startsWith('.'))
      .map(({ specifier }) => posix.join(dirname(file), specifier))
    imports.set(
      file,
      [...new Set(targets)].filter((target) => sources.has(target))
    )
  }
  const cycles: string[][] = []
  const finished = new Set<string>()
  for (const file of imports.keys()) visit(file, [])
  return cycles

  function visit(file: string, path: string[]) {
    const start = path.indexOf(file)
    if (start >= 0) cycles.push([...path.slice(start), file])
    if (start >= 0 || finished.has(file)) return
    for (const target of imports.get(file) ?? []) visit(target, [...path, file])
    finished.add(file)
  }
}
