import t from 'tap'
import { brokenLinks } from '../check-links.ts'

t.test('links to files, folders, headings and other sites are valid', async (t) => {
  const root = t.testdir({
    'README.md': [
      '# Read me',
      '[a](docs/page.md) [b](docs/page.md#the-second-one-1) [c](docs#pages) [d](#read-me) ![e](docs/x.png "x")',
      '[f](https://example.com/nowhere) [g](mailto:a@b.c) [h](docs/page.md#code-in-a-heading) [i]: later',
      '`[code](nowhere.md)`',
      '```md',
      '[code](nowhere.md)',
      '```',
      '[j][ref] [k](docs/page.md#own)',
      '',
      '[ref]: docs/page.md#größe'
    ].join('\n'),
    docs: {
      'README.md': '# Pages\n',
      'page.md': '# Page\n## The second one\n## The second one\n## `Code` in a heading\n## Größe!\n<a id="own"></a>\n',
      'x.png': ''
    }
  })
  t.strictSame(brokenLinks(root), [])
})

t.test('a broken link is reported with its file and line', async (t) => {
  const root = t.testdir({
    'README.md':
      '\n[a](gone.md)\n[b](docs/page.md#gone)\n[c](../outside.md)\n[d](/docs/page.md)\n[e](#gone)\n[f](docs#gone)\n\n[g]: gone-too.md\n',
    docs: { 'README.md': '# Here\n', 'page.md': '```sh\n# gone\n```\n' }
  })
  t.strictSame(brokenLinks(root), [
    'README.md:2 links to gone.md, which does not exist',
    'README.md:3 links to docs/page.md#gone, which has no such heading',
    'README.md:4 links to ../outside.md, which is outside the repository',
    'README.md:5 links to /docs/page.md, which is absolute; use a path relative to the file',
    'README.md:6 links to #gone, which has no such heading',
    'README.md:7 links to docs#gone, which has no such heading',
    'README.md:9 links to gone-too.md, which does not exist'
  ])
})
