// The reference page in a real browser.
import type { AddressInfo } from 'node:net'
import { chromium } from 'playwright-core'
import t from 'tap'
import { password, startService } from './service.ts'

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
  'the reference page works offline: it shows the documents, and tries an operation out with a token',
  { skip: executablePath === undefined && 'set TEST_CHROMIUM to where chromium is' },
  async (t) => {
    const { app } = await startService(t, { publicUrl: undefined })
    await app.listen({ host: '127.0.0.1', port: 0 })
    const origin = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
    const signedIn = await fetch(`${origin}/v1/tokens`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: 'ada@example.com', password })
    })
    const { data } = (await signedIn.json()) as { data: { accessToken: string } }

    const browser = await chromium.launch({ executablePath: executablePath as string, args: quiet })
    t.teardown(() => browser.close())
    const page = await browser.newPage({ viewport: { width: 1400, height: 1000 } })
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
    await page.getByPlaceholder('Token').first().fill(data.accessToken)
    await page.goto(`${origin}/reference#tag/orders/GET/v1/orders`)
    await page.getByRole('heading', { name: 'List orders' }).first().waitFor()
    await page
      .getByRole('button', { name: /Test Request.*get \/v1\/orders\)/i })
      .first()
      .click()
    const answered = page.waitForResponse((response) => response.url().startsWith(`${origin}/v1/orders`))
    await page.getByRole('button', { name: /^Send/ }).first().click()
    const answer = await answered
    t.equal(answer.status(), 200)
    t.equal(answer.request().headers()['authorization'], `Bearer ${data.accessToken}`)
    if (process.env['TEST_SCREENSHOT'] !== undefined) await page.screenshot({ path: process.env['TEST_SCREENSHOT'] })
    t.strictSame(complaints, [])
    t.strictSame(foreign, [])
  }
)
