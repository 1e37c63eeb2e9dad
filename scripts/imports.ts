// Finds the imports of a TypeScript file, including type imports.
import { parseSync, Visitor } from 'oxc-parser'

export interface Import {
  readonly specifier: string
  /** Whether nothing of the import remains at run time. */
  readonly typeOnly: boolean
  /** Whether it takes single exports by their names, and not the default export or all of them. */
  readonly isNamed: boolean
  readonly line: number
}

interface Literal {
  readonly type: string
  readonly value?: unknown
  readonly start: number
}

/**
 * Returns every module that a source names: static and dynamic imports, `import type`, `export … from`, `import()` types,
 * `import x = require()`, `declare module` and `/// <reference>`.
 */
export function importsOf(file: string, source: string): Import[] {
  const { program, comments, errors } = parseSync(file, source)
  if (errors[0]) throw new SyntaxError(`${file}: ${errors[0].message}`)
  const found: Import[] = []
  const add = (literal: Literal | null | undefined, typeOnly: boolean, isNamed = false) => {
    if (typeof literal?.value !== 'string') return
    found.push({ specifier: literal.value, typeOnly, isNamed, line: source.slice(0, literal.start).split('\n').length })
  }
  for (const { value, start } of comments) {
    const reference = /^\/\s*<reference\s+(?:types|path)=["']([^"']+)["']/.exec(value)
    if (reference) add({ type: 'Literal', value: reference[1], start }, true)
  }
  new Visitor({
    // `import { type A }` still loads its module at run time. Only `import type` is removed completely.
    ImportDeclaration: ({ importKind, source, specifiers }) =>
      add(
        source,
        importKind === 'type',
        specifiers.length > 0 && specifiers.every((one) => one.type === 'ImportSpecifier' && nameOf(one.imported) !== 'default')
      ),
    ExportAllDeclaration: ({ exportKind, source }) => add(source, exportKind === 'type'),
    ExportNamedDeclaration: ({ exportKind, source }) => add(source, exportKind === 'type'),
    ImportExpression: ({ source }) => add(source, false),
    TSImportType: ({ source }) => add(source, true),
    TSExternalModuleReference: ({ expression }) => add(expression, false),
    TSModuleDeclaration: ({ id }) => add(id.type === 'Literal' ? id : null, true)
  }).visit(program)
  return found.sort((a, b) => a.line - b.line)
}

function nameOf(imported: { readonly name: string } | { readonly value: string }) {
  return 'name' in imported ? imported.name : imported.value
}

/** Returns the package that a specifier names, or undefined for a relative path, a built-in module or a `#` import. */
export function packageOf(specifier: string): string | undefined {
  if (/^(\.|\/|#|node:|file:)/.test(specifier)) return undefined
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}
