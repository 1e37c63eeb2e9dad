// Writes docs/errors.md from the catalogue that the preset builds. Run it with --conditions=@concordat/source.
// Without --write it only says whether the page is up to date.
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** What the page shows of a code. */
export interface PublishedError {
  readonly code: string
  readonly statusCode: number
  readonly message: Readonly<Record<string, string>>
  readonly remedy: string
}

const head = `# Errors

Every error code that the suite can answer with. Programs compare \`error.code\`; people read \`error.message\`, in the language that \`Accept-Language\` asks for. \`{Places}\` are filled in. A service adds its own codes with \`defineErrors\`.

<!-- Written by scripts/errors-page.ts. -->

| code | status | message (en) | message (es) | how to mend | package |
| --- | --- | --- | --- | --- | --- |
`

/** The page: sorted by status, then code. `packagesOf` names the packages that can raise a code. */
export function errorsPage(errors: readonly PublishedError[], packagesOf: (code: string) => readonly string[]): string {
  const sorted = errors.toSorted((a, b) => a.statusCode - b.statusCode || (a.code < b.code ? -1 : 1))
  const rows = sorted.map(({ code, statusCode, message, remedy }) =>
    [`\`${code}\``, statusCode, message['en'], message['es'], remedy, packagesOf(code).join(', ')].map(cell).join(' | ')
  )
  return `${head}${rows.map((row) => `| ${row} |\n`).join('')}`
}

function cell(text: string | number | undefined) {
  return String(text).replaceAll('|', '\\|').replace(/\s+/g, ' ')
}

// Which packages list a code, read from the error lists that their doors export.
async function packagesByCode(root: string) {
  const packages = new Map<string, string[]>()
  for (const door of globSync('packages/*/src/index.ts', { cwd: root }).sort()) {
    const name = door.split(/[\\/]/)[1] as string
    const exported = (await import(pathToFileURL(join(root, door)).href)) as Record<string, unknown>
    for (const list of Object.values(exported).filter(isErrorList))
      for (const code of Object.keys(list.definitions)) packages.set(code, [...(packages.get(code) ?? []), name])
  }
  return packages
}

function isErrorList(value: unknown): value is { readonly definitions: object } {
  return typeof value === 'object' && value !== null && 'definitions' in value && 'fieldMessages' in value
}
