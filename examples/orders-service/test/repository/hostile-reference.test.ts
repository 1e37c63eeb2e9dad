// The reference page in a real browser, with texts that try to run scripts and to reach other servers.
import { type AddressInfo, createServer } from 'node:net'
import conventions, { serverOptions } from '@concordat/conventions'
import { until } from '@concordat/test-harness/until'
import Fastify from 'fastify'
import { chromium } from 'playwright-core'
import t from 'tap'

const executablePath = process.env['TEST_CHROMIUM']
const args = [
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync'
]

const active =
  'iframe, object, embed, base, meta[http-equiv], form[action], video, link[rel=stylesheet], link[rel=prefetch], link[rel=preconnect]'

/** What a text can contain to run a script, or to make the browser send a request to another origin. */
function attacks(foreign: string): readonly string[] {
  const run = `window.ran=(window.ran||0)+1;fetch('${foreign}/script')`
  const elements = [
    `script>${run}</script`,
    `img src=x onerror="${run}"`,
    `img src="${foreign}/image.png" srcset="${foreign}/set.png 2x"`,
    `svg onload="${run}"><image href="${foreign}/svg.png"/></svg`,
    `iframe src="${foreign}/frame"></iframe`,
    `iframe srcdoc="<script>parent.ran=1</script>"></iframe`,
    `object data="${foreign}/object"></object`,
    `embed src="${foreign}/embed"`,
    `video autoplay src="${foreign}/video" poster="${foreign}/poster"></video`,
    `link rel="stylesheet" href="${foreign}/style.css"`,
    `link rel="prefetch" href="${foreign}/prefetch"`,
    `link rel="preconnect" href="${foreign}"`,
    `style>@import url("${foreign}/import.css"); body { background: url("${foreign}/style.png") }</style`,
    `div style="background: url('${foreign}/div.png')">x</div`,
    `meta http-equiv="refresh" content="0;url=${foreign}/refresh"`,
    `base href="${foreign}/base/"`,
    `form action="${foreign}/form"><input autofocus onfocus="${run}"></form`,
    `details open ontoggle="${run}"><summary>x</summary></details`,
    `a id="hostile" href="javascript:${run}" ping="${foreign}/ping">click</a`,
    `math><mtext><mglyph><style><img src=x onerror="${run}"></style></mglyph></mtext></math`
  ]
  return [
    ...elements.map((element) => `<${element}>`),
    `![x](${foreign}/markdown.png)`,
    `[click](javascript:${run})`,
    `[click](data:text/html,<script>${run}</script>)`,
    `[click](vbscript:x) <javascript:${run}>`,
    `[x]: javascript:${run}\n[x]`,
    `</title></script><script>${run}</script>`,
    `\${${run}} {{constructor.constructor("${run}")()}}`,
    `\u0000\u202e\u2028<scr\u0000ipt>${run}</script>`
  ]
}

const member = (text: string) => ({
  type: 'string',
  title: text,
  description: text,
  examples: [text],
  default: text,
  pattern: `^(?!${text.replaceAll(/[^a-z<> ="]/g, '')}$)`
})

t.test(
  'no text of a schema runs a script in the reference page, or makes the browser reach another origin',
  { skip: executablePath === undefined && 'set TEST_CHROMIUM to the path of chromium' },
  async (t) => {
    // Requests: Chromium may open a connection for a request that the policy then refuses.
    const reached: string[] = []
    const other = createServer((socket) => {
      socket.on('error', () => undefined)
      socket.once('data', (data) => {
        reached.push(String(data).split('\r\n')[0] as string)
        socket.destroy()
      })
    })
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    t.teardown(() => other.close())
    const foreign = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
    const texts = attacks(foreign)
    const all = texts.join('\n\n')

    let deep: object = { type: 'string', description: all }
    for (let level = 0; level < 12; level += 1) deep = { type: 'object', description: texts[level % texts.length], properties: { deep } }
    const Thing = {
      type: 'object',
      title: all,
      description: `${all}\n\n${'long '.repeat(10_000)}`,
      properties: {
        ...Object.fromEntries(texts.map((text, index) => [`member${index}`, member(text)])),
        chosen: { type: 'string', enum: [...texts], description: all },
        fixed: { type: 'string', const: texts[0] },
        deep
      },
      examples: [{ member0: all }]
    }
    const app = Fastify({ ...serverOptions() })
    await app.register(conventions, {
      versions: { 1: { status: 'current' } },
      authentication: false,
      transportSecurity: { dangerouslyAllowHttp: 'loopback' },
      openapi: { title: texts[0] as string, description: all, lint: 'off' }
    })
    await app.apiVersion(1, async (v1) => {
      v1.post(
        '/things/:id/copies',
        {
          config: { idempotency: 'off' },
          schema: {
            summary: texts[1],
            description: all,
            tags: [texts[2], texts[3]],
            operationId: texts[4],
            params: { type: 'object', properties: { id: member(all) } },
            querystring: { type: 'object', properties: { q: member(all) } },
            body: Thing,
            response: { 200: { ...Thing, 'x-display-name': all, 'x-enum-descriptions': [all] } }
          } as never
        },
        async () => ({})
      )
    })
    await app.listen({ host: '127.0.0.1', port: 0 })
    t.teardown(() => app.close())
    const origin = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`

    const browser = await chromium.launch({ executablePath: executablePath as string, args })
    t.teardown(() => browser.close())
    const page = await browser.newPage({ viewport: { width: 1400, height: 1000 } })
    const left: string[] = []
    page.on(
      'request',
      (request) => !/^(data|blob):/.test(request.url()) && !request.url().startsWith(`${origin}/`) && left.push(request.url())
    )
    const blocked: string[] = []
    page.on('requestfailed', (request) => blocked.push(request.url()))
    await page.goto(`${origin}/reference`, { waitUntil: 'commit', timeout: 0 })
    await page.getByText('1.0.0').first().waitFor({ timeout: 0 })
    await page.getByText('member0').first().waitFor({ timeout: 0 })
    const found = await page.evaluate(`({
      ran: window.ran ?? 0,
      links: [...document.querySelectorAll('a[href]')].map((link) => link.protocol).filter((name) => !/^(https?|mailto):$/.test(name)),
      elements: [...document.querySelectorAll('${active}')].map((one) => one.outerHTML),
      handlers: [...document.querySelectorAll('*')].flatMap((one) => one.getAttributeNames().filter((name) => /^on|^ping$|^srcdoc$/.test(name)))
    })`)
    t.strictSame(found, { ran: 0, links: [], elements: [], handlers: [] })
    t.ok(left.length > 0, 'the page shows the Markdown of the texts')
    await until(() => left.every((url) => blocked.includes(url)))

    // What an element could do that a later version of the page would let through.
    const policy = await page.evaluate<string[]>(`new Promise((resolve) => {
      const found = []
      document.addEventListener('securitypolicyviolation', ({ effectiveDirective }) => {
        found.push(effectiveDirective)
        if (found.length === 7) resolve(found)
      })
      const holder = document.createElement('div')
      document.body.append(holder)
      holder.innerHTML = '<img src="${foreign}/i.png"><iframe src="${foreign}/f"></iframe><img src=x onerror="window.ran = 1"><object data="${foreign}/o"></object>'
      const add = (name, members) => holder.append(Object.assign(document.createElement(name), members))
      add('script', { src: '${foreign}/s.js' })
      add('base', { href: '${foreign}/' })
      add('form', { action: '${foreign}/form' })
      holder.lastChild.submit()
    })`)
    t.strictSame(policy.toSorted(), ['base-uri', 'form-action', 'frame-src', 'img-src', 'object-src', 'script-src-attr', 'script-src-elem'])
    t.equal(await page.evaluate('window.ran ?? 0'), 0)
    t.ok(page.url().startsWith(`${origin}/reference`))
    t.strictSame(reached, [], 'no request reached the other origin')
  }
)
