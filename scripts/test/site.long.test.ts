// The documentation site as readers get it: built, and read in a browser.
import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { freePort } from '@concordat/test-harness/fleet'
import { type BrowserContext, chromium } from 'playwright-core'
import t from 'tap'
import { sitePages } from '../../docs/.vitepress/pages.ts'
import { linksOf } from '../markdown.ts'
import { run } from '../run.ts'
import { repository } from '../workspace.ts'

t.setTimeout(0)

const executablePath = process.env['TEST_CHROMIUM']
const skip = executablePath === undefined && 'set TEST_CHROMIUM to the path of chromium'
const folder = join(repository, 'docs/.vitepress')
const site = join(folder, 'dist')
const pages = [...sitePages(repository)]
const html = pages.map((page) => page.replace(/README\.md$/, 'index.md').replace(/\.md$/, '.html'))
/** Of each kind: the start, guides, tables that are wide, charts, diagrams, generated pages. */
const read = [
  '/',
  '/docs/getting-started',
  '/docs/collections',
  '/docs/architecture',
  '/docs/options',
  '/docs/errors',
  '/docs/api/jobs',
  '/docs/comparison',
  '/docs/performance',
  '/docs/soak',
  '/packages/idempotency/'
]

for (const words of [
  ['scripts/setup.mjs', 'docs'],
  ['docs/.vitepress/node_modules/vitepress/bin/vitepress.js', 'build', 'docs']
]) {
  const { code, output } = await run('node', words)
  t.equal(code, 0, output)
}

t.test('every link leads to a page, an anchor or a file', async (t) => {
  const texts = new Map(html.map((file) => [file, readFileSync(join(site, file), 'utf8')]))
  const anchors = new Map([...texts].map(([file, text]) => [file, new Set([...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))]))
  const files = new Set(texts.keys())
  const dead: string[] = []
  for (const [from, text] of texts) {
    for (const [, link = ''] of text.matchAll(/<(?:a|img)\b[^>]* (?:href|src)="([^"]+)"/g)) {
      if (/^[a-z]+:/.test(link)) continue
      const { pathname, hash } = new URL(link.replaceAll('&amp;', '&'), `http://site/${from}`)
      const path = decodeURI(pathname).slice(1)
      const file = [path, `${path}.html`, `${path}index.html`].find((one) => files.has(one))
      const isFound = file === undefined ? existsSync(join(site, path)) : hash === '' || anchors.get(file)?.has(decodeURI(hash.slice(1)))
      if (!isFound) dead.push(`${from}: ${link}`)
    }
  }
  t.strictSame(dead, [])
})

t.test('llms.txt lists the pages as Markdown, whose links lead to Markdown too', async (t) => {
  const listed = [...readFileSync(join(site, 'llms.txt'), 'utf8').matchAll(/\]\(\/([^)#]+)\)/g)].map(([, file]) => file as string)
  t.strictSame(
    pages.filter((page) => /^docs\/(?!README)|^packages/.test(page) && !page.endsWith('decisions/README.md') && !listed.includes(page)),
    []
  )
  const linked = pages.flatMap((page) => linksOf(readFileSync(join(site, page), 'utf8')).map(({ target }) => ({ page, target })))
  t.strictSame(
    linked.filter(
      ({ page, target }) => !/^(#|\/|[a-z]+:)/.test(target) && !statSync(join(repository, dirname(page), target)).isDirectory()
    ),
    [],
    'a link of the repository is left only for a folder without pages'
  )
  const files = [
    ...listed,
    ...linked.flatMap(({ target }) => (target.startsWith('/') ? [decodeURI(target.slice(1)).replace(/#.*/, '')] : []))
  ]
  t.strictSame(
    [...new Set(files)].filter((file) => !existsSync(join(site, file))),
    []
  )
})

t.test('pages in a browser', { skip }, async (t) => {
  const { createServer, serve } = await import(pathToFileURL(join(folder, 'node_modules/vitepress/dist/node/index.js')).href)
  const port = await freePort()
  const { server } = await serve({ root: join(repository, 'docs'), port })
  t.teardown(() => server.close())
  const browser = await chromium.launch({
    executablePath: executablePath as string,
    args: ['--no-sandbox', '--disable-gpu', '--no-first-run']
  })
  t.teardown(() => browser.close())
  const origin = `http://localhost:${port}`
  const axe = readFileSync(join(folder, 'node_modules/axe-core/axe.min.js'), 'utf8')

  /** Opens a page. What it logs as an error, and each request to another site, is a failure. */
  const open = async (context: BrowserContext, path: string) => {
    const page = await context.newPage()
    page.on('console', (message) => message.type() === 'error' && t.fail(`${path}: ${message.text()}`))
    page.on('pageerror', (error) => t.fail(`${path}: ${error.message}`))
    page.on('request', (request) => /^(data:|http:\/\/localhost)/.test(request.url()) || t.fail(`${path} requests ${request.url()}`))
    await page.goto(origin + path, { waitUntil: 'networkidle' })
    return page
  }

  for (const [colorScheme, width] of [
    ['light', 1280],
    ['dark', 390]
  ] as const)
    await t.test(`no page has a serious finding of axe, is wider than ${width} pixels, or logs an error: ${colorScheme}`, async (t) => {
      const context = await browser.newContext({ colorScheme, viewport: { width, height: 900 } })
      for (const path of read) {
        const page = await open(context, path)
        t.equal(await page.evaluate('document.documentElement.scrollWidth'), width, `${path} does not scroll sideways`)
        await page.evaluate(axe)
        const found = await page.evaluate(
          `axe.run().then(({ violations }) => violations.map(({ id, impact, nodes }) => [id, impact, nodes[0].html].join(' ')))`
        )
        t.strictSame(
          (found as string[]).filter((finding) => / (serious|critical) /.test(finding)),
          [],
          path
        )
        const screenshots = process.env['TEST_SCREENSHOTS']
        if (screenshots !== undefined) {
          const name = `site${path.replaceAll('/', '-')}-${width}-${colorScheme}.png`
          await page.screenshot({ path: join(screenshots, name), fullPage: true })
        }
        await page.close()
      }
      await context.close()
    })

  await t.test('the search finds a word of a page and leads there', async (t) => {
    const page = await open(await browser.newContext(), '/')
    await page.getByRole('button', { name: 'Search' }).first().click()
    await page.getByRole('searchbox').fill('fencing token')
    await page.getByRole('option').filter({ hasText: 'Retries that take effect once' }).first().click()
    await page.locator('main').getByText('The fencing token protects the record').waitFor()
    t.match(page.url(), '/docs/idempotency')
  })

  await t.test('npm run docs serves the pages and the sources to which they link', async (t) => {
    const development = await createServer(join(repository, 'docs'), { port: await freePort() })
    await development.listen()
    t.teardown(() => development.close())
    const page = await browser.newPage()
    page.setDefaultTimeout(300_000)
    page.on('pageerror', (error) => t.fail(error.message))
    await page.goto(new URL('/docs/idempotency', development.resolvedUrls.local[0]).href)
    await page.getByRole('img', { name: 'The states of an idempotency key' }).waitFor()
    const source = await page.getByRole('link', { name: 'the contract over HTTP' }).getAttribute('href')
    const response = await page.request.get(new URL(source as string, page.url()).href)
    t.match(await response.text(), 'idempotencyHttpContract')
  })
})
