import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { blocksOf } from '../markdown.ts'
import { filesUnder, repository } from '../workspace.ts'

interface Renaming {
  readonly section: string
  readonly old: string
  readonly new: string
}

const page = 'docs/migration-names.md'
const [tables = '', exceptions = ''] = read(page).split('\n## Old names with another use\n')
const renamings = tables.split('\n## ').slice(1).flatMap(renamingsOf)
const ignored = new Set([...exceptions.matchAll(/^- `([^`]+)`/gm)].map(([, name]) => name as string))
const checked = [...new Set(renamings.map((renaming) => renaming.old))].filter((name) => !ignored.has(name))

function read(file: string) {
  return readFileSync(join(repository, file), 'utf8')
}

function renamingsOf(section: string): Renaming[] {
  return [...section.matchAll(/^\| `([^`]+)` \| (.+) \|$/gm)].map(([, old, renamed]) => ({
    section: section.split('\n', 1)[0] as string,
    old: old as string,
    new: renamed as string
  }))
}

/** Returns the code of a Markdown text: its blocks and the spans in backticks. */
function codeOf(markdown: string) {
  const blocks = blocksOf(markdown)
  const lines = markdown.split('\n')
  for (const { line, text } of blocks) lines.fill('', line - 2, line + text.split('\n').length)
  const spans = [...lines.join('\n').matchAll(/`([^`\n]+)`/g)].map(([, span]) => span)
  return [...blocks.map(({ text }) => text), ...spans].join('\n')
}

function oldNamesIn(code: string) {
  return checked.filter((name) => new RegExp(`(?<![\\w$-])${name.replaceAll('.', '\\.')}(?![\\w$-])`).test(code))
}

t.test('the old names of docs/migration-names.md no longer appear in entry points, READMEs and docs', async (t) => {
  // docs/api is generated from the sources, and decisions describe the names of their time.
  const pages = ['*.md', 'docs/*.md', '{packages,examples}/*/README.md', 'examples/*/docs/*.md'].flatMap((glob) =>
    filesUnder(repository, glob)
  )
  for (const file of pages.filter((name) => name !== page && !name.endsWith('CHANGELOG.md'))) {
    t.strictSame(oldNamesIn(codeOf(read(file))), [], file)
  }
  for (const file of filesUnder(repository, 'packages/*/src/**/index.ts')) t.strictSame(oldNamesIn(read(file)), [], file)
})

t.test('each row has its final name, and each section exists once', async (t) => {
  t.ok(renamings.length > 100)
  for (const { section, new: renamed } of renamings) {
    const isOldToo = renamings.some((other) => other.section === section && `\`${other.old}\`` === renamed)
    t.notOk(isOldToo, `${section}: ${renamed} was renamed again`)
  }
  const rows = renamings.map(({ section, old }) => `${section}: ${old}`)
  t.strictSame([...new Set(rows)], rows)
  for (const name of ignored)
    t.ok(
      renamings.some(({ old }) => old === name),
      `${name} is an old name`
    )
})

t.test('an old name is found in code, and not in prose or in longer names', async (t) => {
  t.strictSame(oldNamesIn(codeOf('`{ waitMilliseconds: 1 }`\n```ts\nmemoryQueue()\n```\n')), ['waitMilliseconds', 'memoryQueue'])
  t.strictSame(oldNamesIn(codeOf('waitMilliseconds `waitMillisecondsMax` `my-memoryQueue`\n')), [])
})
