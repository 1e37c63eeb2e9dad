import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fill } from './template.ts'

/** The files of a project, by their path with forward slashes. */
export type Files = Map<string, string>

/**
 * Reads the templates of a folder, without what was not chosen. Names that npm would leave out of a package begin with an underscore instead of a
 * dot. `schemas.zod.ts` replaces `schemas.ts` if zod was chosen.
 */
export function readTemplates(folder: string, chosen: ReadonlySet<string>): Files {
  const files: Files = new Map()
  for (const path of pathsIn(folder)) {
    // Files of JSON cannot have marks.
    if (path.startsWith('monitoring/') && !chosen.has('metrics')) continue
    const text = fill(readFileSync(join(folder, path), 'utf8'), chosen)
    if (text === undefined) continue
    const [, name, variant, extension] = /^(.*)\.(zod)(\.ts)$/.exec(path) ?? []
    if (variant !== undefined && !chosen.has(variant)) continue
    const own = variant === undefined ? path.replaceAll(/(^|\/)_/g, '$1.') : `${name}${extension}`
    const chosenText = withTypeBox(text, chosen)
    files.set(own, chosen.has('node') && own.startsWith('test/') ? withNodeAssertions(chosenText) : chosenText)
  }
  return files
}

/** Returns a source with the imports of the chosen version of TypeBox, which share all that the templates use. */
export function withTypeBox(text: string, chosen: ReadonlySet<string>): string {
  return chosen.has('typebox-1') ? text.replaceAll("from '@sinclair/typebox'", "from 'typebox'") : text
}

// The tests of the templates have the assertions of tap.
function withNodeAssertions(text: string) {
  return text.replaceAll(/\bt\.(equal|strictSame|match)\(/g, (_, name: string) => (name === 'strictSame' ? 'deepEqual(' : `${name}(`))
}

/** Returns the paths of the files in a folder. A variant of a file comes after it. */
function pathsIn(folder: string): string[] {
  return globSync('**/*', { cwd: folder, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length).replaceAll('\\', '/').replace(/^\//, ''))
    .toSorted((a, b) => a.length - b.length || (a < b ? -1 : 1))
}
