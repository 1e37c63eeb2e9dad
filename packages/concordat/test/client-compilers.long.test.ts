// The files of clients, and calls with them, under every compiler that callers use, with and without exact optional members.
import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { hardDocument } from './hard-schemas.ts'

t.setTimeout(0)
const run = promisify(execFile)
const root = join(import.meta.dirname, '../../..')
const folder = t.testdir({ 'hard.json': JSON.stringify(hardDocument) })
const released = (version: string) => join(root, `examples/orders-service/released/${version}.json`)

const files: readonly (readonly [name: string, source: string, ...flags: string[]])[] = [
  ['v1', released('v1')],
  ['v2', released('v2')],
  ['hard', join(folder, 'hard.json')],
  ['texts', join(folder, 'hard.json'), '--int64', 'text'],
  ['bigints', join(folder, 'hard.json'), '--int64', 'bigint']
]
for (const [name, source, ...flags] of files) {
  const command = ['--conditions=@concordat/source', join(root, 'packages/concordat/src/command.ts'), 'client', source]
  await run(process.execPath, [...command, '--out', join(folder, `${name}.ts`), ...flags])
}

writeFileSync(
  join(folder, 'use.ts'),
  `import { createClient, createSession, isCode } from '@concordat/client'
import { verifyWebhook } from '@concordat/client/webhooks'
import { api as v1 } from './v1.ts'
import { api } from './v2.ts'
import { api as bigints } from './bigints.ts'
import { api as hard } from './hard.ts'
import { api as texts } from './texts.ts'
const session = createSession(api)
const shop = createClient(api, { baseUrl: 'https://a.example', session, onDescriptionChange: (digest: string) => void digest })
for (const one of [v1, bigints, hard, texts]) one.version.toUpperCase()
createClient(hard, { baseUrl: 'https://a.example' })
export async function use(maybe?: string) {
  for await (const { id, note } of shop.list('/v2/orders', { query: { fields: ['id', 'note'], perPage: 5 } })) console.log(id, note)
  // @ts-expect-error: this field was not selected
  for await (const { total } of shop.list('/v2/orders', { query: { fields: ['id'] } })) console.log(total)
  const path = { id: 'a' }
  // An undefined member is left out, with exact optional members too.
  const placed = await shop.post('/v2/orders', { body: { customerId: 'a', items: [], note: maybe }, idempotencyKey: maybe }).result()
  if (!placed.ok && isCode(placed.error, 'INSUFFICIENT_STOCK')) return placed.error.retry
  // @ts-expect-error: no operation has this code
  if (!placed.ok && isCode(placed.error, 'NO_SUCH_CODE')) return
  // @ts-expect-error: no operation has this path
  await shop.get('/v2/order')
  const changed = await shop.update('/v2/products/{id}', { path }, ({ unitsInStock }) => ({ unitsInStock: unitsInStock + 1 }))
  const [read] = await shop.batch('/v2/order-batches', (b) => [b.get('/v2/orders/{id}', { path })])
  const event = await verifyWebhook(api, new Request('https://a.example'), { keys: [] })
  return event.type === 'order.created' ? event.data.total : read.ok ? read.data.note : changed.name
}
`
)

/** Returns the program of a compiler, or why it cannot be installed. */
async function compiler(version: string): Promise<{ readonly file: string; readonly reason?: string }> {
  if (version === '7') return { file: join(root, 'node_modules/typescript/bin/tsc') }
  const place = join(folder, version)
  mkdirSync(place)
  try {
    await run('npm', ['install', '--prefix', place, '--no-save', '--no-audit', '--no-fund', `typescript@${version}`])
    return { file: join(place, 'node_modules/typescript/bin/tsc') }
  } catch (error) {
    return { file: '', reason: `typescript@${version} cannot be installed: ${(error as Error).message.split('\n', 2).join(' ')}` }
  }
}

for (const version of ['5.9', '6', '7']) {
  const { file, reason } = await compiler(version)
  t.test(`every file and its calls compile with TypeScript ${version}`, reason === undefined ? {} : { skip: reason }, async (t) => {
    t.match((await run(process.execPath, [file, '--version'])).stdout, `Version ${version}`)
    for (const exactOptionalPropertyTypes of [true, false]) {
      const compilerOptions = {
        strict: true,
        exactOptionalPropertyTypes,
        noUncheckedIndexedAccess: true,
        noEmit: true,
        target: 'es2022',
        lib: ['es2024', 'dom', 'dom.iterable', 'dom.asynciterable'],
        types: [],
        module: 'esnext',
        moduleResolution: 'bundler',
        allowImportingTsExtensions: true,
        paths: Object.fromEntries(
          ['', '/int64', '/webhooks'].map((entry) => [
            `@concordat/client${entry}`,
            [join(root, `packages/client/src/${entry === '' ? 'index' : entry.slice(1)}.ts`)]
          ])
        )
      }
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['use.ts'] }))
      const outcome = await run(process.execPath, [file, '-p', folder]).then(
        ({ stdout }) => stdout,
        ({ stdout }: { stdout: string }) => stdout
      )
      t.equal(outcome, '', `exactOptionalPropertyTypes: ${exactOptionalPropertyTypes}`)
    }
  })
}
