import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { partsOf, released } from './released.ts'
import type { Loose } from './shop.ts'

const command = join(import.meta.dirname, '../src/command.ts')

interface Outcome {
  readonly code: number
  readonly out: string
  readonly err: string
}

function concordat(cwd: string, ...args: string[]): Promise<Outcome> {
  return new Promise((resolve) => {
    execFile(process.execPath, ['--conditions=@concordat/source', command, ...args], { cwd }, (error, out, err) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, out, err })
    })
  })
}

function folder(t: Loose, files: Record<string, unknown>): string {
  const path = t.testdir({})
  for (const [name, content] of Object.entries(files))
    writeFileSync(join(path, name), typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

t.test('concordat diff fails with every breaking change, and is silent on compatible ones [V3] [V4]', async (t) => {
  const broken = released()
  delete partsOf(broken).order.note
  const wider = released()
  partsOf(wider).order.coupon = { type: 'string' }
  const path = folder(t, { 'old.json': released(), 'broken.json': broken, 'wider.json': wider })
  const failed = await concordat(path, 'diff', 'old.json', 'broken.json')
  t.match(failed, { code: 1, out: /GET \/v1\/orders 200 application\/json\.data\[\]\.note: is gone/, err: '' })
  t.strictSame(await concordat(path, 'diff', 'old.json', 'wider.json'), { code: 0, out: 'Nothing breaks.\n', err: '' })
})

const bad = {
  openapi: '3.1.0',
  info: { title: 'A', version: '1' },
  security: [],
  paths: {
    '/v1/getOrders': {
      get: { parameters: [{ name: 'order_id', in: 'query', schema: { type: 'string' } }], responses: { 200: { description: 'All.' } } }
    }
  }
}
const lints = `export const lints = [{ id: 'P3', check: ({ url }) => url.includes('get') ? '"getOrders" begins with a verb. Let the method say it.' : undefined }]`

t.test('concordat lint fails with every finding, its rule, place and remedy [F1]', async (t) => {
  const path = folder(t, { 'bad.json': bad, 'lints.mjs': lints })
  const failed = await concordat(path, 'lint', 'bad.json', '--with', './lints.mjs')
  t.match(failed, { code: 1, err: '' })
  t.match(failed.out, /^2 places break a rule\./)
  t.match(failed.out, / F1 GET \/v1\/getOrders query order_id: "order_id" is not in camelCase\. Write "orderId"\./)
  t.match(failed.out, / P3 GET \/v1\/getOrders: "getOrders" begins with a verb\. Let the method say it\./)
  t.match(await concordat(path, 'lint', 'bad.json', '--warn'), { code: 0, out: /^1 place breaks a rule/ })
  t.strictSame(await concordat(path, 'lint', 'bad.json', '--waive', 'F1=old clients'), { code: 0, out: 'No rule is broken.\n', err: '' })
})

t.test('a wrong command says how it is written', async (t) => {
  const path = folder(t, { 'bad.json': bad, 'text.json': 'no', 'old.json': { openapi: '3.0.3' }, 'empty.mjs': 'export {}' })
  const cases: [string[], RegExp][] = [
    [[], /^Name a command\./],
    [['diff', 'bad.json'], /^"diff bad\.json" is no command with its files/],
    [['frobnicate'], /^"frobnicate" is no command/],
    [['lint', 'text.json'], /^text\.json can't be read as JSON/],
    [['lint', 'nowhere.json'], /^nowhere\.json can't be read as JSON: ENOENT/],
    [['lint', 'old.json'], /^old\.json is no document of OpenAPI 3\.1\./],
    [['lint', 'bad.json', '--waive', 'F1'], /^--waive F1 has no reason/],
    [['lint', 'bad.json', '--with', './empty.mjs'], /^\.\/empty\.mjs exports no lints/],
    [['lint', 'bad.json', '--with', '@concordat/nowhere'], /^Cannot find module/],
    [['lint', 'bad.json', '--frobnicate'], /^Unknown option '--frobnicate'/]
  ]
  const outcomes = await Promise.all(cases.map(async ([args, message]) => ({ args, message, ...(await concordat(path, ...args)) })))
  for (const { args, message, code, out, err } of outcomes) {
    t.equal(code, 2, args.join(' '))
    t.equal(out, '')
    t.match(err, message)
    t.match(err, /concordat diff <released\.json> <present\.json>/)
  }
})
