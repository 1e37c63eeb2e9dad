import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { openDatabase } from '../src/database/open-database.ts'
import { freshFolder, freshPlace, settingsOf, startService } from './service.ts'

const header = 'name,categoryId,unitPrice,currency,unitsInStock'
// Another connection looks at the tables.
const skip = process.env['TEST_DATABASE_URL'] === undefined && 'TEST_DATABASE_URL is not set'
const unknown = '0197a3c5-1b07-7d52-8f7e-2c64e1a9b3f0'
const origin = 'https://shop.example'

const { call, as } = await startService(t)
// The same in each database.
const [{ id: categoryId }, { id: otherCategory }] = (await call('GET', '/v2/categories')).body.data

type Call = Awaited<ReturnType<typeof startService>>['call']
interface Part {
  readonly type?: string
  readonly name?: string
  readonly dryRun?: string
}

function formOf(csv: string | Buffer<ArrayBuffer>, { type = 'text/csv', name = 'file', dryRun }: Part = {}) {
  const form = new FormData()
  if (dryRun !== undefined) form.set('dryRun', dryRun)
  form.set(name, new Blob([csv], { type }), 'products.csv')
  return form
}

/** Imports a file, waits for the end, and returns its result. */
async function imported(t: Test, call: Call, csv: string, part?: Part, language = 'en') {
  const accepted = await call('POST', '/v2/product-imports', formOf(csv, part))
  t.equal(accepted.status, 202, accepted.text)
  const url = String(accepted.headers['location']).replace(origin, '')
  let ended = await call('GET', url, undefined, { prefer: 'wait=10' })
  while (!['completed', 'failed'].includes(ended.body.data.status)) ended = await call('GET', url, undefined, { prefer: 'wait=10' })
  const [, result] = ended.body.data._links
  t.equal(result?.href, `${origin}${url}/result`, ended.text)
  return (await call('GET', `${url}/result`, undefined, { 'accept-language': language })).body.data
}

const named = async (name: string) => (await call('GET', `/v2/products?name=${encodeURIComponent(name)}`)).body.data
const line = (name: string, { category = categoryId, price = '3.50', currency = 'EUR', stock = '7' } = {}) =>
  `${name},${category},${price},${currency},${stock}`
const counted = { dryRun: false, created: 0, changed: 0, unchanged: 0, refused: 0, refusals: [] }

t.test('an import creates products, changes those with the same name, and counts what is equal', async (t) => {
  const csv = [header, line('Sencha'), line('Gyokuro', { price: '12' }), ''].join('\n')
  t.strictSame(await imported(t, call, csv), { ...counted, created: 2 })
  const [gyokuro] = await named('Gyokuro')
  t.match(gyokuro, { categoryId, unitPrice: '12.00', currency: 'EUR', unitsInStock: 7, discontinued: false })
  t.strictSame(await imported(t, call, csv), { ...counted, unchanged: 2 })
  t.strictSame(await named('Gyokuro'), [gyokuro])
  const changed = [header, line('Sencha'), line('Gyokuro', { category: otherCategory.toUpperCase(), stock: '0' })].join('\n')
  t.strictSame(await imported(t, call, changed), { ...counted, changed: 1, unchanged: 1 })
  t.match(await named('Gyokuro'), [{ id: gyokuro.id, categoryId: otherCategory, unitPrice: '3.50', unitsInStock: 0 }])
})

t.test('a dry run counts the same, and changes nothing', async (t) => {
  const csv = [header, line('Sencha', { price: '99' }), line('Bancha'), line('Bancha')].join('\n')
  t.match(await imported(t, call, csv, { dryRun: 'true' }), { dryRun: true, created: 1, changed: 1, refused: 1 })
  t.strictSame([(await named('Sencha'))[0].unitPrice, await named('Bancha')], ['3.50', []])
  t.match(await imported(t, call, csv, { dryRun: 'false' }), { dryRun: false, created: 1, changed: 1, refused: 1 })
})

t.test('a line that cannot be stored is refused with its number, and the others are stored', async (t) => {
  for (let count = 0; count < 2; count += 1) await call('POST', '/v2/products', { name: 'Twice', categoryId, unitPrice: '1' })
  const cases: readonly (readonly [line: string, field: string | undefined, english: RegExp, spanish: RegExp])[] = [
    [line('', {}), 'name', /^must have 1 to 200 characters$/, /^debe tener de 1 a 200 caracteres$/],
    [line('x'.repeat(201)), 'name', /1 to 200/, /1 a 200/],
    [line('Twice'), 'name', /name of several products/, /nombre de varios productos/],
    [line('A', { category: unknown }), 'categoryId', /not the id of an existing category/, /ninguna categoría/],
    [line('B', { category: '7' }), 'categoryId', /not the id/, /ninguna categoría/],
    [line('C', { price: '1.234' }), 'unitPrice', /a price such as 12.50/, /un precio, por ejemplo 12.50/],
    [line('D', { price: '-1' }), 'unitPrice', /a price/, /un precio/],
    [line('E', { currency: 'eur' }), 'currency', /a currency code such as EUR/, /un código de moneda/],
    [line('F', { stock: '1000001' }), 'unitsInStock', /an integer from 0 to 1000000/, /entero de 0 a 1000000/],
    [line('G', { stock: '1e3' }), 'unitsInStock', /an integer/, /entero/],
    ['H,only two', undefined, /^must have 5 fields$/, /^debe tener 5 campos$/],
    [`${line('I')},one more`, undefined, /5 fields/, /5 campos/],
    [line('Good'), 'name', /^is the name in line 2 too$/, /^es también el nombre de la línea 2$/],
    [`J,"unclosed,${categoryId}`, undefined, /^is not valid CSV/, /^no es CSV válido/]
  ]
  const csv = [header, line('Good'), ...cases.map(([text]) => text), line('After the end')].join('\r\n')
  for (const [language, at] of [
    ['en', 2],
    ['es-MX, en;q=0.1', 3]
  ] as const) {
    const { refusals, ...counts } = await imported(t, call, csv, {}, language)
    t.match(counts, { created: at === 2 ? 1 : 0, unchanged: at === 2 ? 0 : 1, refused: cases.length })
    for (const [index, one] of cases.entries()) {
      t.match(refusals[index], { line: index + 3, reason: one[at] }, one[0])
      t.equal(refusals[index].field, one[1])
    }
  }
  t.strictSame(await named('After the end'), [])
})

t.test('CSV has its forms: columns in any order, quotes, line ends of any system, a byte order mark, empty lines', async (t) => {
  const forms: readonly (readonly [string, string])[] = [
    ['a byte order mark', `\ufeff${header}\n${line('Form 0')}\n`],
    ['CRLF', `${header}\r\n${line('Form 1')}\r\n`],
    ['CR', `${header}\r${line('Form 2')}\r`],
    ['both', `${header}\r\n${line('Form 3')}\n`],
    ['empty lines', `${header}\n\n${line('Form 4')}\n\n\n`],
    ['quotes', `"name",${header.slice(5)}\r\n${line('"Form 5"')}`],
    ['another order', `unitsInStock,currency,unitPrice,categoryId,name\n7,EUR,3.5,${categoryId},Form 6`]
  ]
  for (const [index, [form, csv]] of forms.entries()) {
    t.strictSame(await imported(t, call, csv), { ...counted, created: 1 }, form)
    t.match(await named(`Form ${index}`), [{ unitsInStock: 7 }], form)
  }
  t.match(await imported(t, call, `${header}\n${line('"Say ""hi"",\nthen leave – ñandú"')}\nshort`), {
    created: 1,
    refusals: [{ line: 4 }]
  })
  t.equal((await named('Say "hi",\nthen leave – ñandú')).length, 1)
  t.strictSame(await imported(t, call, header), counted, 'no line')
})

t.test('what is not such a file is refused before anything is queued', async (t) => {
  const list = async () => (await call('GET', '/v2/product-imports')).body._meta.pagination.totalItems
  const before = await list()
  const good = `${header}\n${line('Never')}`
  const cases: readonly (readonly [string, unknown, number, string, string | undefined])[] = [
    ['an empty file', formOf(''), 422, 'INVALID_PRODUCT_FILE', 'body.file'],
    ['no header', formOf(line('Never')), 422, 'INVALID_PRODUCT_FILE', 'body.file'],
    ['a column too many', formOf(`${header},note\n`), 422, 'INVALID_PRODUCT_FILE', 'body.file'],
    ['a column too few', formOf('name,categoryId,unitPrice,currency\n'), 422, 'INVALID_PRODUCT_FILE', 'body.file'],
    ['a column twice', formOf('name,name,unitPrice,currency,unitsInStock\n'), 422, 'INVALID_PRODUCT_FILE', 'body.file'],
    ['a quote without end', formOf(`"${header}\n${line('Never')}`), 422, 'INVALID_PRODUCT_FILE', 'body.file'],
    ['semicolons', formOf(good.replaceAll(',', ';')), 422, 'INVALID_PRODUCT_FILE', 'body.file'],
    ['HTML', formOf('<html><body>Never</body></html>'), 422, 'INVALID_PRODUCT_FILE', 'body.file'],
    ['a single field of 1 MiB', formOf('a'.repeat(1_048_576)), 422, 'INVALID_PRODUCT_FILE', 'body.file'],
    ['UTF-16', formOf(Buffer.from(`\ufeff${good}`, 'utf16le')), 415, 'UNSUPPORTED_MEDIA_TYPE', 'body.file'],
    ['Latin-1', formOf(Buffer.from(`${good}ñ`, 'latin1')), 415, 'UNSUPPORTED_MEDIA_TYPE', 'body.file'],
    ['a ZIP, as of a spreadsheet', formOf(Buffer.from('504b030414000000', 'hex')), 415, 'UNSUPPORTED_MEDIA_TYPE', 'body.file'],
    ['another type', formOf(good, { type: 'text/plain' }), 415, 'UNSUPPORTED_MEDIA_TYPE', 'body.file'],
    ['JSON', { dryRun: true }, 415, 'UNSUPPORTED_MEDIA_TYPE', undefined],
    ['no file', formOf('x', { type: '', name: 'dryRun' }), 422, 'VALIDATION_FAILED', 'body.file'],
    ['another name', formOf(good, { name: 'products' }), 422, 'VALIDATION_FAILED', 'body.products'],
    ['dryRun that is not a boolean', formOf(good, { dryRun: 'perhaps' }), 422, 'VALIDATION_FAILED', 'body.dryRun'],
    ['a byte too many', formOf(Buffer.alloc(5_242_881, 'a')), 413, 'PAYLOAD_TOO_LARGE', 'body.file'],
    ['far too many', formOf(Buffer.alloc(20_000_000, 'a')), 413, 'PAYLOAD_TOO_LARGE', 'body']
  ]
  for (const [name, form, status, code, field] of cases) {
    const response = await call('POST', '/v2/product-imports', form as object)
    t.strictSame([response.status, response.body.error.code], [status, code], name)
    t.equal(response.body.error.errors?.[0].field, field, name)
  }
  const spanish = await call('POST', '/v2/product-imports', formOf(''), { 'accept-language': 'es' })
  t.match(spanish.body.error, { message: /^El archivo no es una lista/, errors: [{ message: /^debe empezar con una línea/ }] })
  const withoutKey = await call('POST', '/v2/product-imports', formOf(good), { 'idempotency-key': undefined as never })
  t.match([withoutKey.status, withoutKey.body.error.code], [400, 'IDEMPOTENCY_KEY_REQUIRED'])
  t.strictSame([await list(), await named('Never')], [before, []])
})

t.test('a file of 5 MiB is accepted', async (t) => {
  const lines = Array.from({ length: 200 }, (_, index) => line(`Bulk ${index}`))
  const csv = [header, ...lines].join('\n').padEnd(5_242_880, '\n')
  t.strictSame(await imported(t, call, csv), { ...counted, created: 200 })
})

const sendWithKey = (csv: string) => call('POST', '/v2/product-imports', formOf(csv), { 'idempotency-key': 'an-import' })

t.test('a retry with the same key is the same import, also with another boundary; another file is refused', async (t) => {
  const csv = `${header}\n${line('Once')}`
  const [first, second] = [await sendWithKey(csv), await sendWithKey(csv)]
  t.strictSame([second.status, second.body.data, second.headers['idempotency-replayed']], [202, first.body.data, 'true'])
  t.match(await sendWithKey(`${csv}\n`), { status: 422, body: { error: { code: 'IDEMPOTENCY_KEY_REUSED' } } })
})

t.test('only staff import, and only the user who started an import sees it', async (t) => {
  const { headers } = await call('POST', '/v2/product-imports', formOf(`${header}\n`))
  const url = String(headers['location']).replace(origin, '')
  for (const username of ['ada@example.com', 'admin@example.com']) {
    const other = await as(username)
    for (const [method, path, body] of [
      ['GET', '/v2/product-imports'],
      ['POST', '/v2/product-imports', formOf(`${header}\n`)],
      ['GET', url],
      ['GET', `${url}/result`],
      ['DELETE', url],
      ['GET', '/v2/order-summaries']
    ] as const)
      t.match(await other(method, path, body), { status: 403, body: { error: { code: 'INSUFFICIENT_PERMISSION' } } }, `${method} ${path}`)
  }
  t.equal((await call('GET', `/v2/product-imports/${unknown}/result`)).status, 404)
  t.equal((await call('GET', '/v1/product-imports')).status, 404)
})

t.test('an import that is cancelled keeps the lines that its result counts, and no others', async (t) => {
  // Repeats until an import is cancelled while it runs.
  for (let turn = 0; ; turn += 1) {
    const lines = Array.from({ length: 2000 }, (_, index) => line(`Cancelled ${turn} ${index}`))
    const { headers } = await call('POST', '/v2/product-imports', formOf([header, ...lines].join('\n')))
    const url = String(headers['location']).replace(origin, '')
    const result = async () => (await call('GET', `${url}/result`)).body.data
    while ((await result()).created === 0);
    if ((await call('DELETE', url)).status === 409) continue
    // A worker takes the next import when it has stopped, perhaps another one than that of this import.
    await imported(t, call, `${header}\n`)
    const listed = `/v2/products?name%5Bprefix%5D=${encodeURIComponent(`Cancelled ${turn} `)}&perPage=1`
    const total = async () => (await call('GET', listed)).body._meta.pagination.totalItems
    let { created } = await result()
    while ((await total()) !== created) ({ created } = await result())
    t.ok(created >= 100 && created < 2000 && created % 100 === 0, `${created} lines`)
    t.match((await call('GET', url)).body.data, { status: 'cancelled' })
    return
  }
})

t.test('on PGlite too, files are imported and refused', async (t) => {
  const { call } = await startService(t, { place: await freshFolder(t) })
  t.strictSame(await imported(t, call, [header, line('Sencha'), line('Sencha')].join('\n')), {
    ...counted,
    created: 1,
    refused: 1,
    refusals: [{ line: 3, field: 'name', reason: 'is the name in line 2 too' }]
  })
  for (const [form, status] of [
    [formOf(''), 422],
    [formOf(header, { type: 'text/plain' }), 415],
    [formOf(Buffer.alloc(5_242_881, 'a')), 413]
  ] as const)
    t.equal((await call('POST', '/v2/product-imports', form)).status, status)
  t.strictSame(await imported(t, call, [header, line('Sencha', { price: '4' })].join('\n')), { ...counted, changed: 1 })
})

t.test('the daily job deletes imports that are older than their jobs, with their files', { skip }, async (t) => {
  const place = await freshPlace(t)
  const first = await startService(t, { place })
  await imported(t, first.call, [header, line('Sencha')].join('\n'))
  await first.app.close()
  const database = await openDatabase(settingsOf(place), () => {})
  await database.query("UPDATE product_imports SET created_at = created_at - interval '10 days'")
  const { app } = await startService(t, { place })
  await app.jobs.schedules.run('product-import-cleanup')
  const left = async () => database.query('SELECT file_id FROM product_imports UNION ALL SELECT id FROM concordat.files')
  while ((await left()).length > 0) await delay(100)
  await database.close()
})
