// The packages and examples of a workspace, read from their package.json files.
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A floor of the house, or `apart`: beside it, importing nothing of it. */
export type Floor = 1 | 2 | 3 | 4 | 'apart'

export interface Manifest {
  readonly name: string
  readonly version?: string
  readonly description?: string
  readonly private?: boolean
  /** In the root only, with an exact version. */
  readonly packageManager?: string
  readonly floor?: Floor
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
  /** What check-alone registers the plugin with. */
  readonly alone?: {
    readonly options?: object
    readonly config?: object
    readonly headers?: Record<string, string>
    readonly status?: number
  }
  readonly exports?: Readonly<Record<string, string | Readonly<Record<string, string>>>>
  readonly publishConfig?: { readonly exports?: Manifest['exports'] }
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

export interface Member {
  /** The folder from the root, with forward slashes: `packages/links`. */
  readonly folder: string
  readonly floor: Floor | undefined
  readonly manifest: Manifest
}

/** The root of this repository. */
export const repository: string = fileURLToPath(new URL('..', import.meta.url))

export function readManifest(file: string): Manifest {
  return JSON.parse(readFileSync(file, 'utf8'))
}

/** Every package and example below a root folder, by folder name. Examples live on floor 4 unless they say otherwise. */
export function readMembers(root: string): Member[] {
  return filesUnder(root, '{packages,examples}/*/package.json').map((file) => {
    const manifest = readManifest(join(root, file))
    return { folder: dirname(file), manifest, floor: manifest.floor ?? (file.startsWith('examples/') ? 4 : undefined) }
  })
}

/** Files that match a glob, from a root, sorted, with forward slashes; never from node_modules or dist. */
export function filesUnder(root: string, pattern: string): string[] {
  if (!existsSync(root)) return []
  return globSync(pattern, { cwd: root, exclude: isMade })
    .map((file) => file.replaceAll('\\', '/'))
    .toSorted()
}

function isMade(path: string) {
  return /(^|[/\\])(node_modules|dist|\.git|\.tap)([/\\]|$)/.test(path)
}
