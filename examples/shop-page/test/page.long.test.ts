// The page in a real browser against the orders service, through a proxy that loses, delays, repeats and cuts requests and responses.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createClient } from '@concordat/client'
import { childEnvironment, nodeOptions } from '@concordat/test-harness/child'
import { lossyProxyOf } from '@concordat/test-harness/lossy-proxy'
import { freshDatabase } from '@concordat/testing'
import { type BrowserContext, chromium, type Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { api } from '../page/shop.ts'
import { serve } from '../scripts/serve.ts'

t.setTimeout(0)

const executablePath = process.env['TEST_CHROMIUM']
const skip = executablePath === undefined && 'set TEST_CHROMIUM to the path of chromium'
const ada = { username: 'ada@example.com', password: 'correct horse battery staple' }
const quiet = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-sync']

/** Starts the orders service as `npm start` does, on an empty database. */
async function startService(t: Test) {
  const { databaseUrl = '', dataFolder } = await freshDatabase(t)
  const program = fileURLToPath(new URL('../../orders-service/src/main.ts', import.meta.url))
  const variables = { DATABASE_URL: databaseUrl, DATA_DIR: dataFolder, NODE_ENV: 'test', LOG_LEVEL: 'silent', PORT: '0', RATE_LIMIT: 'off' }
  const child = spawn(process.execPath, [...nodeOptions, program], { env: { ...childEnvironment(), ...variables } })
  t.teardown(() => child.kill('SIGKILL'))
  return new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (data) => {
      const found = /Orders service at (\S+)/.exec(String(data))?.[1]
      if (found !== undefined) resolve(found)
    })
    child.once('exit', () => reject(new Error('The service ended before it listened.')))
  })
}

/** Starts the service, the page and the proxy, and a browser. Returns how to open the page, and a client without losses. */
async function start(t: Test, only: RegExp) {
  const service = await startService(t)
  const site = await serve(service, 0)
  t.teardown(() => site.close())
  const proxy = await lossyProxyOf(t, site.listeningOrigin, { seed: 58, lateMs: 2000, only })
  const browser = await chromium.launch({ executablePath: executablePath as string, args: quiet })
  t.teardown(() => browser.close())
  const context = await browser.newContext({ viewport: { width: 980, height: 640 }, locale: 'en-GB' })
  context.setDefaultTimeout(120_000)
  const { accessToken } = await createClient(api, { baseUrl: service }).post('/v2/tokens', { body: ada })
  return { proxy, context, near: createClient(api, { baseUrl: service, token: () => accessToken }) }
}

async function openPage(t: Test, context: BrowserContext, url: string) {
  const page = await context.newPage()
  page.on('pageerror', (error) => t.fail(error.message))
  await page.goto(url)
  return page
}

async function signIn(page: Page) {
  await page.getByLabel('Email').fill(ada.username)
  await page.getByLabel('Password').fill(ada.password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.locator('#orders tr').nth(7).waitFor()
}

const said = (page: Page, text: string | RegExp) => page.locator('#message').filter({ hasText: text }).waitFor()

t.test('the page shows lists, lost responses, conflicts and progress', { skip }, async (t) => {
  const { proxy, context, near } = await start(t, /^$/)
  const page = await openPage(t, context, proxy.url)
  await signIn(page)

  await t.test('a list continues with each page', async (t) => {
    await page.getByRole('button', { name: 'More' }).click()
    await page.locator('#orders tr').nth(15).waitFor()
    const shown = await page.locator('#orders tr').evaluateAll((rows) => rows.map((row) => row.dataset['id']))
    const orders = await near.get('/v2/orders', { query: { perPage: 16 } })
    t.strictSame(
      shown,
      orders.map(({ id }) => id)
    )
  })

  await t.test('an order whose responses are lost is sent again, also after a reload, and is placed once', async (t) => {
    // The browser repeats requests too.
    for (let count = 0; count < 12; count += 1) proxy.loseResponse('POST /v2/orders')
    await page.getByLabel('Note').first().fill('Ring twice.')
    await page.getByRole('button', { name: 'Place', exact: true }).click()
    await said(page, 'No response was received.')
    const attempts = proxy.faults.responseLost
    t.ok(attempts >= 3)
    await page.reload()
    await said(page, 'No response was received.')
    for (let isPlaced = false; !isPlaced; ) {
      await page.getByRole('button', { name: 'Send again' }).click()
      await said(page, /^(The order of|No response)/)
      isPlaced = (await page.locator('#message').textContent())?.startsWith('The order of') === true
    }
    const orders = await near.get('/v2/orders', { query: { perPage: 5 } })
    t.equal(orders.filter(({ note }) => note === 'Ring twice.').length, 1)
  })

  await t.test('a change that meets another one shows it, and is saved when the user confirms', async (t) => {
    await page.locator('#orders tr').first().click()
    const input = page.locator('#edit input')
    await page.waitForFunction(() => document.querySelector<HTMLInputElement>('#edit input')?.value === 'Ring twice.')
    const [order] = await near.get('/v2/orders', { query: { perPage: 1 } })
    const path = { id: order?.id as string }
    await near.update('/v2/orders/{id}', { path }, () => ({ note: 'Ring once.' }))
    await input.fill('Do not ring.')
    await page.getByRole('button', { name: 'Save' }).click()
    await said(page, 'Meanwhile the note was changed to “Ring once.”.')
    t.equal((await near.get('/v2/orders/{id}', { path })).note, 'Ring once.')
    const folder = process.env['TEST_SCREENSHOTS']
    if (folder !== undefined) await page.screenshot({ path: join(folder, 'page.png') })
    await page.getByRole('button', { name: 'Save' }).click()
    await said(page, 'The note is saved.')
    t.equal((await near.get('/v2/orders/{id}', { path })).note, 'Do not ring.')
  })

  await t.test('an export shows its progress, and ends as a file', async (t) => {
    await page.getByRole('button', { name: 'Start' }).click()
    const link = page.getByRole('link', { name: 'orders.csv' })
    await link.waitFor()
    t.equal(await page.locator('progress').evaluate((bar) => (bar as HTMLProgressElement).value), 100)
    const [download] = await Promise.all([page.waitForEvent('download'), link.click()])
    const lines = readFileSync(await download.path(), 'utf8')
      .trim()
      .split('\r\n')
    let orders = 0
    for await (const _ of near.list('/v2/orders', { query: { fields: ['id'], perPage: 100 } })) orders += 1
    t.equal(lines.length, orders + 1)
  })
})

t.test('through a network with losses, two tabs place every order once', { skip }, async (t) => {
  const { proxy, context, near } = await start(t, /^POST \/v2\/orders/)
  const pages = [await openPage(t, context, proxy.url), await openPage(t, context, proxy.url)]
  await signIn(pages[0] as Page)
  await pages[1]?.reload()
  const notes = await Promise.all(
    pages.map(async (page, tab) => {
      await page.locator('#orders tr').nth(7).waitFor()
      const placed: string[] = []
      for (let count = 0; count < 25; count += 1) {
        const note = `${tab}-${count}`
        await page.getByLabel('Note').first().fill(note)
        do {
          await page.locator('#place button').click()
          await said(page, /^(The order of|No response)/)
        } while ((await page.locator('#message').textContent())?.startsWith('The order of') !== true)
        placed.push(note)
      }
      return placed
    })
  )
  const orders = await near.get('/v2/orders', { query: { perPage: 60 } })
  t.strictSame(
    orders
      .map(({ note = '' }) => note)
      .filter((note) => /^\d-\d+$/.test(note))
      .toSorted(),
    notes.flat().toSorted()
  )
  t.comment(JSON.stringify(proxy.faults))
})
