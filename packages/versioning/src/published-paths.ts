/** Returns a path without parameter names, which are not part of a public URI. Rule P4 compares this form. */
function publicShape(path: string): string {
  return path
    .replace(/\{\w+\}/g, ':id')
    .replace(/:\w+(?:\(.*?\))?/g, ':id')
    .replace(/(?<=.)\/$/, '')
}

/** Throws an `Error` that lists every published path that has no route although its version is not retired (rule P4). */
export function requirePublishedPaths(
  published: readonly string[],
  registered: Iterable<string>,
  isRetired: (path: string) => boolean
): void {
  const shapes = new Set([...registered].map(publicShape))
  const missing = published.filter((path) => !shapes.has(publicShape(path)) && !isRetired(path))
  if (missing.length === 0) return
  throw new Error(
    `versioning: options.publishedPaths contains paths without a route (rule P4): ${missing.join(', ')}. Register them, because public URIs must not change.`
  )
}
