// What the compiler says about calls that the description does not have: one line that names the fault, short enough for an editor.
import { join } from 'node:path'
import { compilerOutput } from '@concordat/test-harness/instantiations'
import t from 'tap'

const begin = `import { createClient, isCode } from '@concordat/client'
import { api } from '../../test/repository/shop.ts'
const shop = createClient(api, { baseUrl: 'https://shop.example' })
const path = { id: 'a' }
const body = { items: [{ productId: 'a', quantity: 1 }] }
const placed = await shop.post('/v2/orders', { body }).result()
`
const longest = 400

const misuses: readonly (readonly [fault: string, code: string, message: RegExp])[] = [
  ['a path that does not exist', `shop.post('/v2/order', { body })`, /'"\/v2\/order"' is not assignable .*"\/v2\/orders"/],
  ['a path without a list', `shop.list('/v2/orders/{id}', { path })`, /'"\/v2\/orders\/\{id\}"' is not assignable .*"\/v2\/orders"/],
  [
    'a path without If-Match',
    `shop.update('/v2/users/{id}', { path }, () => ({ role: 'staff' }))`,
    /'"\/v2\/users\/\{id\}"' is not assignable/
  ],
  ['a path without a job', `shop.job('/v2/orders', { body })`, /'"\/v2\/orders"' is not assignable .*"\/v2\/order-exports"/],
  ['no input', `shop.get('/v2/orders/{id}')`, /Expected 2 arguments, but got 1\./],
  ['a path parameter is missing', `shop.get('/v2/orders/{id}', {})`, /Property 'path' is missing in type '\{\}'/],
  [
    'a path parameter has another name',
    `shop.get('/v2/orders/{id}', { path: { ID: 'a' } })`,
    /'ID' does not exist .* Did you mean to write 'id'\?/
  ],
  ['a required header is missing', `shop.patch('/v2/orders/{id}', { path, body: {} })`, /Property 'ifMatch' is missing/],
  ['a required field is missing', `shop.post('/v2/orders', { body: { note: 'x' } })`, /Property 'items' is missing .* 'NewOrder'\./],
  ['an unknown field', `shop.post('/v2/orders', { body: { ...body, remark: 'x' } })`, /'remark' does not exist in type 'NewOrder'\./],
  [
    'an unknown field of a change',
    `shop.update('/v2/orders/{id}', { path }, () => ({ remark: 'x' }))`,
    /'\{ remark: string; \}' is not .*OrderChanges/
  ],
  [
    'an unknown field of a response',
    `(await shop.get('/v2/orders/{id}', { path })).totals`,
    /'totals' does not exist .* Did you mean 'total'\?/
  ],
  [
    'a key where none is accepted',
    `shop.post('/v2/tokens', { body: {}, idempotencyKey: 'a' })`,
    /'idempotencyKey' does not exist .*NewToken/
  ],
  ['an unknown parameter', `shop.list('/v2/orders', { query: { 'status[inn]': ['paid'] } })`, /'status\[inn\]'' does not exist/],
  ['an unknown value', `shop.list('/v2/orders', { query: { status: 'payed' } })`, /'"payed"' is not assignable .*"paid"/],
  ['an unknown name in fields', `shop.list('/v2/orders', { query: { fields: ['idd'] } })`, /'"idd"' is not assignable .*"id"/],
  [
    'an unknown field of a relation',
    `shop.list('/v2/orders', { query: { fields: ['customer.name'] } })`,
    /'"customer\.name"' is not assignable/
  ],
  ['an unknown relation', `shop.list('/v2/orders', { query: { include: ['owner'] } })`, /'"owner"' is not assignable .*"customer"/],
  ['an unknown option', `shop.get('/v2/orders/{id}', { path, retrys: 1 })`, /'retrys' does not exist/],
  [
    'a code that the operation cannot have',
    `!placed.ok && isCode(placed.error, 'WEBHOOK_SUBSCRIPTION_LIMIT_EXCEEDED')`,
    /'"WEBHOOK_SUBSCRIPTION_LIMIT_EXCEEDED"' is not assignable .*"INSUFFICIENT_STOCK"/
  ],
  ['a code that no operation has', `shop.isCode(new Error('x'), 'NO_SUCH_CODE')`, /'"NO_SUCH_CODE"' is not assignable .*CodeOf/]
]

t.test('misuse does not compile, with one readable message each', (t) => {
  const lines = misuses.map(([, code], index) => `export const m${index} = ${code}`)
  const output = compilerOutput(join(import.meta.dirname, '../..'), begin + lines.join('\n'))
  const messages = output.split(/^program\.ts\(/m).slice(1)
  t.equal(messages.length, misuses.length, output)
  const first = begin.split('\n').length
  for (const [index, [fault, , message]] of misuses.entries()) {
    const text = messages[index] ?? ''
    t.equal(Number.parseInt(text), first + index, fault)
    t.match(text, message, fault)
    const [line = '', ...more] = text.trimEnd().split('\n')
    t.ok(line.length <= longest && more.length <= 1, `${fault}: ${text}`)
  }
  t.end()
})
