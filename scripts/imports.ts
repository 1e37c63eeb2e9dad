// Finds the imports of a TypeScript file, including type imports.
import { parseSync } from 'oxc-parser'

/** Returns every module that a source names in an import or export, static, dynamic or of types. Throws a `SyntaxError` for what is not TypeScript. */
export function importsOf(file: string, source: string): Set<string> {
  const { module, errors } = parseSync(file, source)
  if (errors[0]) throw new SyntaxError(`${file}: ${errors[0].message}`)
  const exported = module.staticExports.flatMap(({ entries }) => entries.map(({ moduleRequest }) => moduleRequest?.value))
  // The parser does not list types that are imported in place.
  const inPlace = [...source.matchAll(/\bimport\('([^']+)'\)/g)].map(([, name]) => name)
  const all = [...module.staticImports.map(({ moduleRequest }) => moduleRequest.value), ...exported, ...inPlace]
  return new Set(all.filter((name) => name !== undefined))
}

/** Returns the package that a specifier names, or undefined for a relative path, a built-in module or a `#` import. */
export function packageOf(specifier: string): string | undefined {
  if (/^(\.|\/|#|node:|file:)/.test(specifier)) return undefined
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}
