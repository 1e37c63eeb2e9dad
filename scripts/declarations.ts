// The declarations behind the entry points of a package, from its built .d.ts files.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { type Node, parseSync } from 'oxc-parser'
import { withDescribedMembers } from './described-options.ts'

/** A top-level declaration of a file. */
interface Declaration {
  /** Its source without `export` and comments. */
  readonly text: string
  /** The names in it, except those of its members. */
  readonly references: ReadonlySet<string>
}

/** Where a name comes from: another file or package, and its name there. */
interface Origin {
  readonly from: string
  readonly name: string
}

interface Module {
  /** Several for a name with overloads. */
  readonly declarations: ReadonlyMap<string, readonly Declaration[]>
  readonly imports: ReadonlyMap<string, Origin>
  /** By the exported name: a local name, or what is exported of another module. */
  readonly exports: ReadonlyMap<string, string | Origin>
  /** `declare module` of other packages. */
  readonly augmentations: readonly Declaration[]
}

/** Everything that a package exports, and what that needs. */
export interface PublicDeclarations {
  /** The declarations of each entry point, by exported name; those of another package as an export statement. */
  readonly entries: ReadonlyMap<string, ReadonlyMap<string, string>>
  /** What exports and augmentations refer to, and no entry point exports, by name and file. */
  readonly unexported: ReadonlyMap<string, string>
  readonly augmentations: readonly string[]
}

/** Reads the entry points of a package, given by their names and .d.ts files. */
export function publicDeclarations(folder: string, entryPoints: ReadonlyMap<string, string>): PublicDeclarations {
  const modules = new Map<string, Module>()
  const resolved = new Map([...entryPoints].map(([name, file]) => [name, exportsOf(posix.normalize(file))]))
  const exported = new Set([...resolved.values()].flatMap((names) => [...names.values()].map(keyOf)))
  const unexported = new Map<string, string>()
  const visited = new Set<string>()
  const entries = new Map(
    [...resolved].map(([entry, names]) => [
      entry,
      new Map([...names].toSorted(byName).map(([name, origin]) => [name, printed(name, origin)]))
    ])
  )
  for (const [from, { augmentations }] of modules) for (const { references } of augmentations) follow(from, references)
  return {
    entries,
    unexported: new Map([...unexported].toSorted(byName)),
    augmentations: [...new Set([...modules.values()].flatMap(({ augmentations }) => augmentations.map(({ text }) => text)))].toSorted()
  }

  function moduleOf(file: string): Module {
    let module = modules.get(file)
    if (module === undefined) {
      const path = join(folder, file)
      if (!existsSync(path)) throw new Error(`${path} is missing. Run: pnpm build`)
      module = readModule(file, readFileSync(path, 'utf8'))
      modules.set(file, module)
      for (const { from } of module.imports.values()) if (isFile(from)) moduleOf(from)
    }
    return module
  }

  function exportsOf(file: string): Map<string, Origin> {
    const named = [...moduleOf(file).exports]
    return new Map(named.map(([name, target]) => [name, originOf(typeof target === 'string' ? { from: file, name: target } : target)]))
  }

  /** Follows imports and re-exports to the declaration. */
  function originOf({ from, name }: Origin): Origin {
    if (!isFile(from)) return { from, name }
    const { declarations, imports, exports } = moduleOf(from)
    if (declarations.has(name)) return { from, name }
    const target = imports.get(name) ?? exports.get(name)
    return target === undefined ? { from, name } : originOf(typeof target === 'string' ? { from, name: target } : target)
  }

  function printed(exportedName: string, origin: Origin): string {
    if (!isFile(origin.from)) return `export { ${renamed(origin.name, exportedName)} } from '${origin.from}'`
    const text = declared(origin)
    return exportedName === origin.name ? text : `${text}\nexport { ${renamed(origin.name, exportedName)} }`
  }

  function declared(origin: Origin): string {
    const declarations = moduleOf(origin.from).declarations.get(origin.name) ?? []
    if (!visited.has(keyOf(origin))) {
      visited.add(keyOf(origin))
      for (const { references } of declarations) follow(origin.from, references)
    }
    return declarations.map(({ text }) => text).join('\n')
  }

  /** Adds what no entry point exports of what a file refers to. */
  function follow(from: string, references: ReadonlySet<string>) {
    for (const name of references) {
      const { declarations: local, imports } = moduleOf(from)
      if (!local.has(name) && !imports.has(name)) continue
      const target = originOf({ from, name })
      if (isFile(target.from) && !exported.has(keyOf(target)) && !visited.has(keyOf(target)))
        // Files may each have an internal type of the same name.
        unexported.set(`${target.name} ${target.from}`, declared(target))
    }
  }
}

function readModule(file: string, written: string): Module {
  const source = withDescribedMembers(file, written)
  const { program, comments, module } = parseSync(file, source)
  const target = (specifier: string) =>
    specifier.startsWith('.') ? posix.join(dirname(file), specifier).replace(/\.[jt]s$/, '.d.ts') : specifier
  const originOf = (from: string, { kind, name }: { readonly kind: string; readonly name: string | null }): Origin => ({
    from: target(from),
    name: name ?? (kind === 'Default' ? 'default' : '*')
  })
  const imports = new Map(
    module.staticImports.flatMap(({ moduleRequest, entries }) =>
      entries.map(({ localName, importName }) => [localName.value, originOf(moduleRequest.value, importName)] as const)
    )
  )
  const exports = new Map<string, string | Origin>()
  for (const { moduleRequest, importName, exportName, localName } of module.staticExports.flatMap(({ entries }) => entries)) {
    const name = exportName.name ?? 'default'
    if (moduleRequest === null) exports.set(name, localName.name ?? 'default')
    else if (exportName.name === null) throw new Error(`${file} exports everything of ${moduleRequest.value}. Name what it exports.`)
    else exports.set(name, originOf(moduleRequest.value, importName))
  }
  const declarations = new Map<string, Declaration[]>()
  const augmentations: Declaration[] = []
  for (const statement of program.body) {
    const declaration = 'declaration' in statement && statement.declaration ? statement.declaration : statement
    const text = textOf(declaration)
    const one = { text, references: new Set(text.match(/(?<![\w.'"-])[A-Za-z_$][\w$]*(?![\w$]|\??[:(])/g)) }
    if (declaration.type === 'TSModuleDeclaration' && declaration.id.type === 'Literal') augmentations.push(one)
    else if (declaration.type === 'Identifier') exports.set('default', declaration.name)
    else
      for (const name of statement.type === 'ExportDefaultDeclaration' ? ['default'] : namesOf(declaration))
        declarations.set(name, [...(declarations.get(name) ?? []), one])
  }
  return { declarations, imports, exports, augmentations }

  /** The source of a declaration without its comments, and without the lines that had nothing else. */
  function textOf({ start, end }: Node) {
    const inside = comments.filter((comment) => start <= comment.start && comment.end <= end)
    let text = source.slice(start, end)
    for (const comment of inside.toReversed()) text = text.slice(0, comment.start - start) + text.slice(comment.end - start)
    return text.replaceAll(/\n[ \t]*(?=\n)/g, '')
  }
}

function namesOf(declaration: Node): string[] {
  if (declaration.type === 'VariableDeclaration')
    return declaration.declarations.flatMap(({ id }) => (id.type === 'Identifier' ? [id.name] : []))
  return 'id' in declaration && declaration.id?.type === 'Identifier' ? [declaration.id.name] : []
}

function renamed(name: string, exported: string) {
  return name === exported ? name : `${name} as ${exported}`
}

function keyOf({ from, name }: Origin) {
  return `${from} ${name}`
}

function isFile(from: string) {
  return from.endsWith('.d.ts')
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]) {
  return a < b ? -1 : a > b ? 1 : 0
}
