/** A path as P4 compares it: the names of parameters are not part of a public URI. */
function publicShape(path: string): string {
  return path
    .replace(/\{\w+\}/g, ':id')
    .replace(/:\w+(?:\(.*?\))?/g, ':id')
    .replace(/(?<=.)\/$/, '')
}

/** Throws an `Error` that names every published path that no route serves any more, though its version is not retired (rule P4). */
export function requirePublishedPaths(
  published: readonly string[],
  registered: Iterable<string>,
  isRetired: (path: string) => boolean
): void {
  const shapes = new Set([...registered].map(publicShape))
  const missing = published.filter((path) => !shapes.has(publicShape(path)) && !isRetired(path))
  if (missing.length === 0) return
  throw new Error(`P4: ${missing.join(', ')} was published and is no longer registered. Register it again: a public URI is not changed.`)
}
