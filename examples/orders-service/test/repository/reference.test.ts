// The reference page in a real browser.
import type { AddressInfo } from 'node:net'
import { describedFetch } from '@concordat/testing'
import { chromium } from 'playwright-core'
import t from 'tap'
import { password, startService } from '../service.ts'

const executablePath = process.env['TEST_CHROMIUM']
const quiet = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync'
]

t.test(
  'the reference page works offline: it shows every version, sends an operation of each version with a token, and has complete samples',
  { skip: executablePath === undefined && 'set TEST_CHROMIUM to the path of chromium' },
  async (t) => {
    const { app } = await startService(t, { publicUrl: undefined })
    await app.listen({ host: '127.0.0.1', port: 0 })
    const origin = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
    const signedIn = await describedFetch(`${origin}/v1/tokens`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: 'ada@example.com', password })
    })
    const { data } = (await signedIn.json()) as { data: { accessToken: string } }

    const browser = await chromium.launch({ executablePath: executablePath as string, args: quiet })
    t.teardown(() => browser.close())
    const page = await browser.newPage({ viewport: { width: 1400, height: 1000 } })
    // On a busy machine, the page was seen to need more than the 30 seconds that Playwright waits.
    page.setDefaultTimeout(120_000)
    const complaints: string[] = []
    const foreign: string[] = []
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
    page.on('pageerror', (error) => complaints.push(error.message))
    page.on(
      'request',
      (request) => !/^(data|blob):/.test(request.url()) && !request.url().startsWith(`${origin}/`) && foreign.push(request.url())
    )

    await page.goto(`${origin}/reference`)
    await page.getByRole('heading', { name: 'Orders service' }).waitFor()
    for (const [version, other] of [
      ['v2', 'v1'],
      ['v1', 'v2']
    ] as const) {
      await page
        .getByText(`${version.slice(1)}.0.0`)
        .first()
        .waitFor()
      await screenshot(`${version}-introduction`)
      await page.getByPlaceholder('Token').first().fill(data.accessToken)
      await tryOut(version)
      await screenshot(`${version}-tried`)
      await page.keyboard.press('Escape')
      await page.getByRole('button', { name: version, exact: true }).first().click()
      await page.getByRole('option', { name: other }).click()
    }
    await page.getByText('2.0.0').first().waitFor()
    await sampleHas('POST/v2/orders', 'Idempotency-Key: ')
    await sampleHas('PATCH/v2/orders/{id}', 'If-Match: ')
    t.strictSame(complaints, [])
    t.strictSame(foreign, [])

    async function tryOut(version: string) {
      const operation = new RegExp(`Test Request.*get /${version}/orders\\)`, 'i')
      await page
        .getByRole('link', { name: /^orders/ })
        .or(page.getByRole('button', { name: /^orders/i }))
        .first()
        .click()
      await page.getByRole('button', { name: operation }).first().click()
      const responded = page.waitForResponse((response) => response.url().startsWith(`${origin}/${version}/orders`))
      await page.getByRole('button', { name: /^Send/ }).first().click()
      const received = await responded
      t.equal(received.status(), 200)
      // Waits until the response is shown, because the page reports an error for a request that is aborted.
      await page.getByText('200 OK').first().waitFor()
      t.equal(received.request().headers()['authorization'], `Bearer ${data.accessToken}`)
    }

    // The sample of an operation that requires a header has the header, and the token.
    async function sampleHas(operation: string, header: string) {
      await page.goto('about:blank')
      await page.goto(`${origin}/reference#v2/tag/orders/${operation}`)
      const sample = page.locator('pre', { hasText: `--header '${header}` }).first()
      await sample.waitFor()
      t.match(await sample.textContent(), /^curl .*--header 'Authorization: Bearer /s, operation)
    }

    async function screenshot(name: string) {
      const folder = process.env['TEST_SCREENSHOTS']
      if (folder !== undefined) await page.screenshot({ path: `${folder}/${name}.png` })
    }
  }
)
