import { readFileSync } from 'node:fs'

/** What a release of a package renamed. */
export interface Release {
  readonly package: string
  readonly version: string
  /** Entry points, or whole packages with all of their entry points: `{ '@concordat/postgres/rows': '@concordat/postgres/statements' }`. */
  readonly modules?: Readonly<Record<string, string>>
  /** Exports by their entry point before the release: `{ '@concordat/postgres/rows': { found: 'foundRow' } }`. */
  readonly exports?: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** Options by the entry point and the export that accepts them: `{ '@concordat/conventions': { default: { 'idempotency.waitSeconds': 'maxWaitSeconds' } } }`. */
  readonly options?: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, string>>>>>>
  /** What a user must do, as whole sentences. */
  readonly manual?: readonly string[]
}

function read(path: string) {
  return JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'))
}

/** Returns what releases renamed, the oldest first. The table is part of each release of this package. */
export function releases(): readonly Release[] {
  return read('../releases.json')
}

/** Returns the ranges of the versions that belong to this release, by package. The build writes them. */
export function versions(): Readonly<Record<string, string>> {
  return read('../dist/versions.json')
}
