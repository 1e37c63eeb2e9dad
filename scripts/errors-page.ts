// Writes docs/errors.md from the error lists of the plugins, merged by error-catalogue as the preset merges them. Run it at the root, with --conditions=@concordat/source.
// Without --write it only says whether the page is up to date.
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import Fastify from 'fastify'

/** What the page shows of a code. */
export interface PublishedError {
  readonly code: string
  readonly statusCode: number
  readonly message: Readonly<Record<string, string>>
  readonly remedy: string
}

const head = `# Errors

Every error code that the suite can answer with. Programs compare \`error.code\`; people read \`error.message\`, in the language that \`Accept-Language\` asks for. \`{Places}\` are filled in. Of a code that several packages raise, the text here is the general one; the plugin's own may say more, as which methods are allowed. A service adds its own codes with \`defineErrors\`.

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

interface ErrorListing {
  readonly definitions: Readonly<Record<string, unknown>>
}

interface Manifest {
  readonly floor: number
  readonly exports?: Readonly<Record<string, { readonly '@concordat/source': string }>>
}

// The error lists that the doors of plugins and stores export, by package.
async function listsOf(root: string) {
  const lists: [name: string, list: ErrorListing][] = []
  for (const manifest of globSync('packages/*/package.json', { cwd: root }).sort()) {
    const folder = join(root, dirname(manifest))
    const { floor, exports = {} } = JSON.parse(readFileSync(join(root, manifest), 'utf8')) as Manifest
    if (floor !== 2 && floor !== 3) continue
    const found = new Set<ErrorListing>()
    for (const { '@concordat/source': door } of Object.values(exports))
      for (const exported of Object.values(await import(pathToFileURL(join(folder, door)).href)))
        if (isErrorList(exported)) found.add(exported)
    for (const list of found) lists.push([basename(folder), list])
  }
  return lists
}

function isErrorList(exported: unknown): exported is ErrorListing {
  return typeof exported === 'object' && exported !== null && 'definitions' in exported && 'fieldMessages' in exported
}

async function currentPage(root: string) {
  const lists = await listsOf(root)
  const app = Fastify()
  const { default: errorCatalogue } = await import(pathToFileURL(join(root, 'packages/error-catalogue/src/index.ts')).href)
  await app.register(errorCatalogue, { include: lists.map(([, list]) => list) })
  const { entries } = (app as unknown as { errorCatalogue: { entries: readonly PublishedError[] } }).errorCatalogue
  return errorsPage(entries, (code) => lists.filter(([, { definitions }]) => Object.hasOwn(definitions, code)).map(([name]) => name))
}

if (process.argv[1] === import.meta.filename) {
  const root = process.cwd()
  const file = join(root, 'docs/errors.md')
  const page = await currentPage(root)
  if (process.argv.includes('--write')) writeFileSync(file, page)
  else if (!existsSync(file) || readFileSync(file, 'utf8') !== page) {
    console.log('docs/errors.md is not what the code says. Run scripts/errors-page.ts with --write.')
    process.exitCode = 1
  }
}
