// Reads the packages and examples of a workspace from their package.json files.
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export type Layer = 0 | 1 | 2 | 3 | 4 | 5

/** What the package.json of the root says about publishing. */
export interface Publishing {
  /** The address of the repository, `https://<host>/<owner>/<name>`, or empty while it is not known. */
  readonly repository: string
  /** The names on npm that belong to the project: the scope and the names of packages outside it. */
  readonly ownedNames: readonly string[]
  /** The keywords of every package. */
  readonly keywords: readonly string[]
}

export interface Manifest {
  readonly name: string
  readonly version?: string
  readonly description?: string
  readonly private?: boolean
  /** In the root only, with an exact version. */
  readonly packageManager?: string
  readonly layer?: Layer
  /** In the root only. */
  readonly publishing?: Publishing
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
  /** The options with which check-alone registers the plugin. */
  readonly alone?: {
    readonly options?: object
    readonly config?: object
    readonly headers?: Record<string, string>
    readonly status?: number
  }
  readonly exports?: Readonly<Record<string, string | Readonly<Record<string, string>>>>
  readonly bin?: Readonly<Record<string, string>>
  readonly publishConfig?: { readonly exports?: Manifest['exports'] }
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

export interface Member {
  /** The folder from the root, with forward slashes: `packages/links`. */
  readonly folder: string
  readonly layer: Layer | undefined
  readonly manifest: Manifest
}

/** The root folder of this repository. */
export const repository: string = fileURLToPath(new URL('..', import.meta.url))

export function readManifest(file: string): Manifest {
  return JSON.parse(readFileSync(file, 'utf8'))
}

/** Returns every package and example below a root folder, by folder name. Examples are on layer 5 unless they state another layer. */
export function readMembers(root: string): Member[] {
  return filesUnder(root, '{packages,examples}/*/package.json').map((file) => {
    const manifest = readManifest(join(root, file))
    return { folder: dirname(file), manifest, layer: manifest.layer ?? (file.startsWith('examples/') ? 5 : undefined) }
  })
}

/** Returns the entry points of a package that have a condition, such as `types`, with the file of each. */
export function entryFiles({ exports = {} }: Manifest, condition: string): [entry: string, file: string][] {
  return Object.entries(exports).flatMap(([entry, targets]) => {
    const file = typeof targets === 'object' ? targets[condition] : undefined
    return file === undefined ? [] : [[entry, file]]
  })
}

/** Returns the files below a root that match a glob, sorted, with forward slashes, without those in node_modules and dist. */
export function filesUnder(root: string, pattern: string): string[] {
  if (!existsSync(root)) return []
  return globSync(pattern, { cwd: root, exclude: isMade })
    .map((file) => file.replaceAll('\\', '/'))
    .toSorted()
}

function isMade(path: string) {
  return /(^|[/\\])(node_modules|dist|\.git|\.tap)([/\\]|$)/.test(path)
}
