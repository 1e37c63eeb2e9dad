/** Creates a function that returns the template that matches a path, for example `/v1/orders/{id}`. If several match, the earlier literal wins. */
export function templateFinder(templates: readonly string[]): (path: string) => string | undefined {
  const patterns = templates.toSorted(literalsFirst).map((template) => ({ template, pattern: patternOf(template) }))
  return (path) => patterns.find(({ pattern }) => pattern.test(path))?.template
}

function patternOf(template: string) {
  const parts = template.split(/\{[^}]*\}/).map((text) => text.replaceAll(/[.*+?^$()|[\]\\]/g, String.raw`\$&`))
  return new RegExp(`^${parts.join('[^/]+')}/?$`)
}

// A brace sorts after every character of a literal.
function literalsFirst(a: string, b: string) {
  return a < b ? -1 : 1
}
