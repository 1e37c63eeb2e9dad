// How much a package installs, and the table of docs/package-sizes.md, which no installation may exceed.
import { lstatSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { withSection } from './markdown.ts'

/** What a folder with one package and Fastify has installed. */
export interface Installed {
  readonly packages: number
  readonly megabytes: number
}

const page = 'docs/package-sizes.md'

/** Measures an installation by pnpm: each package in `node_modules/.pnpm`, and the bytes of its files. */
export function installedIn(folder: string): Installed {
  const store = join(folder, 'node_modules/.pnpm')
  const packages = readdirSync(store).filter((name) => name !== 'node_modules' && lstatSync(join(store, name)).isDirectory())
  return { packages: packages.length, megabytes: packages.reduce((sum, name) => sum + bytesIn(join(store, name)), 0) / 1e6 }
}

function bytesIn(folder: string): number {
  return readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
    const path = join(folder, entry.name)
    // A link leads to another package.
    return sum + (entry.isDirectory() ? bytesIn(path) : entry.isFile() ? lstatSync(path).size : 0)
  }, 0)
}

/** Returns the problem with a package that installs more than the table allows. */
export function excess(name: string, { packages, megabytes }: Installed, limits: ReadonlyMap<string, Installed>): string[] {
  const limit = limits.get(name)
  if (limit !== undefined && packages <= limit.packages && megabytes <= limit.megabytes) return []
  const allowed = limit === undefined ? 'has no row for it' : `allows ${limit.packages} and ${limit.megabytes} MB`
  return [
    `it installs ${packages} packages and ${megabytes.toFixed(2)} MB, but ${page} ${allowed}. Remove a dependency, or run: node scripts/check-alone.ts --write`
  ]
}

/** Returns the rows of the table. */
export function readSizes(root: string): Map<string, Installed> {
  const rows = readFileSync(join(root, page), 'utf8').matchAll(/^\| \[([^\]]+)\]\([^)]*\) \| (\d+) \| ([\d.]+) \|$/gm)
  return new Map(
    [...rows].map(([, name, packages, megabytes]) => [name as string, { packages: Number(packages), megabytes: Number(megabytes) }])
  )
}

/** Returns what a row allows: sizes are rounded up to half a megabyte, with a tenth to spare, so that not every change of a source changes the table. */
export function limitOf({ packages, megabytes }: Installed): Installed {
  return { packages, megabytes: Math.ceil((megabytes + 0.1) * 2) / 2 }
}

/** Writes the rows of the table. */
export function writeSizes(root: string, limits: ReadonlyMap<string, Installed>): void {
  const rows = [...limits].map(([name, { packages, megabytes }]) => `| [${name}](../packages/${name}) | ${packages} | ${megabytes} |`)
  writeFileSync(
    join(root, page),
    withSection(join(root, page), 'sizes', ['| package | packages | MB |', '|---|---|---|', ...rows].join('\n'))
  )
}
