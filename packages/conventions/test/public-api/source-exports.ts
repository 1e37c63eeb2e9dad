// What the entry points of the packages export, from their sources.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** The root folder of the repository. */
export const repository: string = join(import.meta.dirname, '../../../..')

/** A function or class of an entry point, whose parameters the reports in docs/api describe. */
export type Exported = (...input: readonly unknown[]) => unknown

/** Returns the exports of an entry point such as `@concordat/webhooks/receiver`. */
export async function exportsOf(entry: string): Promise<Readonly<Record<string, Exported>>> {
  const [, owner = '', ...path] = entry.split('/')
  const folder = join(repository, 'packages', owner)
  const { exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    readonly exports: Readonly<Record<string, { readonly '@concordat/source': string }>>
  }
  const file = exports[['.', ...path].join('/')]?.['@concordat/source'] as string
  return import(pathToFileURL(join(folder, file)).href)
}
