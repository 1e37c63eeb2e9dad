// What makes the documentation site of the pages. The long tier builds it and reads it in a browser.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { chartOf } from '../../docs/.vitepress/charts.ts'
import { diagramOf } from '../../docs/.vitepress/diagrams.ts'
import { siteLink, sources } from '../../docs/.vitepress/links.ts'
import { type Item, navigation, sidebars } from '../../docs/.vitepress/navigation.ts'
import { withTables } from '../../docs/.vitepress/options.ts'
import { otherMarkdown, routeOf, sitePages } from '../../docs/.vitepress/pages.ts'
import { filesUnder, repository } from '../workspace.ts'

const pages = sitePages(repository)
const linksOf = (items: readonly Item[] = []): string[] => items.flatMap(({ link, items }) => [...(link ? [link] : []), ...linksOf(items)])

t.test('the pages are the documentation and the READMEs, and no other text', async (t) => {
  for (const page of [
    'README.md',
    'docs/errors.md',
    'docs/decisions/README.md',
    'packages/jobs/README.md',
    'examples/orders-service/docs/design.md'
  ])
    t.ok(pages.has(page), page)
  const others = otherMarkdown(repository, pages)
  for (const other of ['packages/concordat/skill/SKILL.md', 'packages/create-concordat/project/AGENTS.md'])
    t.ok(others.includes(other), other)
})

t.test('a link leads to a page, the README of a folder, its first page, or the text of a source', async (t) => {
  const file = { 'page.md': '' }
  const root = t.testdir({
    'README.md': '',
    docs: { 'page.md': '', api: file },
    packages: { jobs: { 'README.md': '', src: { 'a.ts': '' } } }
  })
  const all = sitePages(root)
  for (const [from, link, expected] of [
    ['docs/page.md', '../README.md#why', '/README.md#why'],
    ['docs/page.md', '../packages/jobs', '/packages/jobs/README.md'],
    ['docs/page.md', '../packages/jobs/#options', '/packages/jobs/README.md#options'],
    ['README.md', 'docs/api', '/docs/api/page.md'],
    ['packages/jobs/README.md', 'src/a.ts', '/packages/jobs/src/a.ts.txt'],
    ['packages/jobs/README.md', 'src', undefined],
    ['README.md', 'https://example.com/a', 'https://example.com/a'],
    ['README.md', '#why', '#why'],
    ['README.md', '/docs/page.md', '/docs/page.md']
  ] as const)
    t.equal(siteLink(root, all, from, link), expected, `${from}: ${link}`)
  t.ok(sources.has('packages/jobs/src/a.ts'))
})

t.test('a page has the path of its file, and a README that of its folder', async (t) => {
  t.strictSame(['README.md', 'docs/errors.md', 'packages/jobs/README.md'].map(routeOf), ['/', '/docs/errors', '/packages/jobs/'])
})

t.test('the navigation has every page of docs, and only pages', async (t) => {
  const lists = sidebars(repository, pages)
  t.strictSame(
    navigation(repository).map(({ text }) => text),
    ['Start', 'Guides', 'Reference', 'Packages', 'Why']
  )
  const linked = new Set(linksOf(Object.values(lists).flat()))
  const expected = [...pages].filter((page) => page.startsWith('docs/') && !page.endsWith('README.md')).map(routeOf)
  t.strictSame(
    expected.filter((route) => !linked.has(route)),
    [],
    'pages that docs/README.md does not list'
  )
  const routes = new Set([...pages].map(routeOf))
  t.strictSame(
    [...linked, ...linksOf(navigation(repository))].filter((link) => !routes.has(link.replace(/#.*/, ''))),
    []
  )
})

t.test('the page of options has the tables of every package', async (t) => {
  const text = withTables(repository, pages, readFileSync(join(repository, 'docs/options.md'), 'utf8'))
  for (const readme of filesUnder(repository, 'packages/*/README.md'))
    for (const [, row = ''] of readFileSync(join(repository, readme), 'utf8').matchAll(
      /<!-- options: \w+ -->\n(?:\|.*\n){2}(\| `\w+` \| [^|]*)\|/g
    ))
      t.ok(text.includes(row), `${readme}: ${row}`)
  t.notMatch(text, /\]\((undefined|\.\.\/\.\.)/)
  t.match(text, '### Deleted resources')
  t.match(text, 'Of `work`:')
})

t.test('a chart of text becomes bars, areas and letters; other text does not', async (t) => {
  t.equal(chartOf('text', '/orders?status=paid\n'), undefined)
  t.equal(chartOf('sh', 'echo █\n'), undefined)
  const bars = chartOf('text', 'an item, µs\n  Fastify          ████ 52.0\n  <same>           ██ 26.0\n') ?? ''
  t.match(bars, '<p>an item, µs</p>')
  t.match(bars, '<span>Fastify</span><i style="width:4%"></i><b>52.0</b>')
  t.match(bars, '&lt;same>')
  const areas = chartOf('text', `${'faults'.padEnd(28)}  A\n${'p99, ms'.padEnd(28)} ▁█· ≤ 92.2\n`) ?? ''
  t.match(areas, '<u style="left:50.0%;top:0em">A</u>')
  t.match(areas, 'aria-label="p99, ms, at most 92.2" viewBox="0 0 3 8"')
  t.match(areas, 'd="M0 8V7H1V0H2V8H3V8Z"')
})

t.test('every chart and diagram of the pages is drawn', async (t) => {
  const blocks = [...pages].flatMap((page) =>
    [...readFileSync(join(repository, page), 'utf8').matchAll(/^```(text|mermaid)\n([\s\S]*?)^```$/gm)].map(
      ([, language = '', text = '']) => ({ page, language, text })
    )
  )
  const charts = blocks.filter(({ language, text }) => language === 'text' && /^.*█.*$/m.test(text))
  t.ok(charts.length >= 2)
  for (const { page, text } of charts) t.notMatch(chartOf('text', text)?.replaceAll(/<[^>]*>/g, '') ?? '█', /[▁-█]/, page)
  const diagrams = blocks.filter(({ language }) => language === 'mermaid')
  t.ok(diagrams.length >= 6)
  for (const { page, text } of diagrams) t.match(text, /^ {2}accTitle: \S/m, `${page} has no name for its diagram`)
})

t.test('a diagram has the colours of the theme, its name, and no style sheet of its own', async (t) => {
  const drawn = diagramOf('mermaid', 'flowchart LR\n  accTitle: A "b"\n  a --> b\n', (text, { bg }) => {
    t.equal(text, 'flowchart LR\n  a --> b\n')
    return `<svg style="--bg:${bg}"><style>@import x</style><g/></svg>`
  })
  t.equal(
    drawn,
    '<div class="diagram" tabindex="0" v-pre><svg role="img" aria-label="A &quot;b&quot;" style="--bg:var(--vp-c-bg)"><g/></svg></div>\n'
  )
  t.equal(
    diagramOf('text', 'a', () => ''),
    undefined
  )
})
