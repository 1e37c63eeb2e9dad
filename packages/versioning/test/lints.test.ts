import { lints } from '@concordat/versioning'
import t, { type Test } from 'tap'

type Route = Parameters<(typeof lints)[number]['check']>[0]

function brokenRules(route: Partial<Route> & { url: string }) {
  const broken = lints.flatMap(({ id, check }) => {
    const problem = check({ method: 'GET', ...route })
    return problem === undefined ? [] : [[id, problem] as const]
  })
  return Object.fromEntries(broken)
}

function query(...names: string[]) {
  return { querystring: { type: 'object', properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])) } }
}

t.test('the paths of an ordinary service break no rule [S1] [S9] [P1] [P2] [P3] [P5] [M10] [V1] [V2]', async (t) => {
  const reads = [
    '/v1/categories',
    '/v1/categories/:id',
    '/v1/products',
    '/v1/products/:id',
    '/v1/products/:id/images/:imageId',
    '/v1/customers',
    '/v1/customers/:id',
    '/v1/order-exports/:id',
    '/v1/webhook-subscriptions/:id/deliveries/:deliveryId',
    '/v1/orders/:id/items/:itemId',
    '/v1/order-exports/:id/files/:fileId',
    '/v1/webhook-subscriptions/:id/deliveries/:deliveryId/attempts',
    '/v12/people',
    '/shop/api/v1/orders',
    '/v1/media',
    '/v1/statuses',
    '/v1/api-keys',
    '/v1/refresh-tokens',
    '/v1/vpns/:id',
    '/v1/proofs-of-deliveries',
    '/v1/form-1099s',
    '/v1/orders/:id(^[0-9a-f/]{3,(4)}$)'
  ]
  const posts = [
    '/v1/products',
    '/v1/products/:id/images',
    '/v1/customers',
    '/v1/webhook-subscriptions',
    '/v1/tokens',
    '/v1/token-revocations',
    '/v1/orders',
    '/v1/orders/:id/items',
    '/v1/orders/:id/cancellations',
    '/v1/order-batches',
    '/v1/order-exports',
    '/v1/webhook-subscriptions/:id/secrets',
    '/v1/webhook-subscriptions/:id/pings',
    '/v1/webhook-subscriptions/:id/deliveries/:deliveryId/redeliveries',
    '/v1/webhook-subscriptions/:id/recoveries'
  ]
  for (const url of reads) t.strictSame(brokenRules({ url, schema: query('sort', 'perPage', 'unitPrice[gte]') }), {}, url)
  for (const url of posts) t.strictSame(brokenRules({ method: 'POST', url, schema: {} }), {}, url)
  for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) t.strictSame(brokenRules({ method, url: '/v1/orders/:id' }), {}, method)
  t.strictSame(brokenRules({ method: ['GET', 'POST'], url: '/v1/orders' }), {})
})

// Each line: the rules that the path breaks, and for the first of them what its message must say.
const table: readonly (readonly [rules: string, url: string, says: RegExp, route?: Partial<Route>])[] = [
  ['P1', '/orders', /outside every version\. Register it in app\.apiVersion/],
  ['P1', '/v1', /names no collection/],
  ['P1', '/v1/orders/*', /wildcard/],
  ['P1', '/v1/orders/', /empty segment/],
  ['P1', '/v1//orders', /empty segment/],
  ['P1', '/v1/orders/:id/items/', /empty segment/],
  ['P1', '/v1/orders/:from-:to', /":from-:to" is more than one plain parameter/],
  ['P1', '/v1/orders/:id?', /":id\?" is more than one/],
  ['P1', '/v1/:tenant/orders', /":tenant" follows no collection/],
  ['P1', '/v1/orders/:id/:item', /":item" follows no collection/],
  ['P1', '/v1/orders/items', /"items" follows a collection without an id.*<nouns>\/:id\/<nouns>/],
  ['P2', '/v1/Orders', /"Orders" is not in lower case with dashes\. Write "orders"/],
  ['P2', '/v1/orderItems', /Write "order-items"/],
  ['P2', '/v1/order_items', /Write "order-items"/],
  ['P2', '/v1/order', /"order" is no plural\. Write "orders"/],
  ['P2', '/v1/orders/:id/shipping-address', /Write "shipping-addresses"/],
  ['P2 P3', '/v1/orders/:id/cancel-request', /Write "cancel-requests"/],
  ['P2', '/v1/--', /not in lower/],
  ['P2', '/v1/--', /not in lower/, { method: 'POST' }],
  ['P3', '/v1/create-orders', /"create-orders" begins with a verb/],
  ['P2 P3', '/v1/getOrders', /"getOrders" is not in lower/],
  ['P2 P3', '/v1/orders/:id/cancel', /"cancel" is no plural/],
  ['P3', '/v1/sql-tables', /technology word "sql"/],
  ['P3', '/v1/order-json-documents', /technology word "json"/],
  ['P3', '/v1/apis', /technology word "apis"/],
  ['P3', '/v1/ob-orders', /abbreviation "ob"/],
  ['P3', '/v1/prdcts', /abbreviation "prdcts"\. Write the word out/],
  ['P2 P3', '/v1/orders.json', /not in lower/],
  ['P1 P3', '/v1/orders/:id.json', /more than one plain/],
  ['P1 P3', '/v1/orders/:id::cancel', /more than one plain/],
  ['P2 P3', '/v1/orders::cancel', /not in lower/],
  ['P3', '/v1/orders', /query parameter "action" chooses an operation/, { schema: query('page', 'action') }],
  ['P3', '/v1/orders', /"Op" chooses/, { schema: query('Op') }],
  ['P3', '/v1/orders', /"cmd" chooses/, { schema: { query: query('cmd').querystring } }],
  ['P3', '/v1/orders', /"method"/, { schema: { querystring: { allOf: [{ anyOf: [query('method').querystring, { oneOf: [true] }] }] } } }],
  ['P5', '/v1/orders/:id', /POST on an item.*noun below the item/, { method: 'POST' }],
  ['P5', '/v1/orders/:id', /POST on an item/, { method: ['PUT', 'POST'] }],
  ['M10', '/v1/order-searches', /reads by POST/, { method: 'POST' }],
  ['M10', '/v1/orders/:id/lookups', /waives this rule with its reason/, { method: 'POST' }],
  ['M10', '/v1/queries', /reads by POST/, { method: 'POST' }],
  ['V1', '/v1.2/orders', /"v1\.2" is no version/],
  ['V1', '/v1.2.3/orders', /"v1\.2\.3" is no version/],
  ['V1', '/v01/orders', /"v01" is no version/],
  ['V1', '/v0/orders', /"v0" is no version/],
  ['V1', '/V1/orders', /"V1" is no version/],
  ['V2', '/v1/orders', /"apiVersion" passes a version.*remove "apiVersion"/, { schema: query('apiVersion') }],
  ['V2', '/v1/orders', /"api-version"/, { schema: query('api-version') }],
  ['V2', '/v1/orders', /"version"/, { schema: query('version') }],
  ['V2', '/v1/orders', /"X-Api-Version"/, { schema: { headers: { type: 'object', properties: { 'X-Api-Version': {} } } } }],
  ['V2', '/v1/orders', /constraint "version"/, { constraints: { version: '1.0.0' } }]
]

function isRefused(t: Test, id: string) {
  for (const [rules, url, says, route] of table.filter(([rules]) => rules.split(' ')[0] === id)) {
    const broken = brokenRules({ url, ...route })
    t.equal(Object.keys(broken).join(' '), rules, `${url} breaks ${rules}`)
    t.match(broken[id], says)
  }
}

t.test('paths other than collections and items under a version are refused [S1] [S9] [P1]', async (t) => isRefused(t, 'P1'))
t.test('segments that are no lower-case plural nouns are refused [P2]', async (t) => isRefused(t, 'P2'))
t.test('verbs, technology words, abbreviations and operation parameters are refused [S1] [P3]', async (t) => isRefused(t, 'P3'))
t.test('POST on an item is refused [P5]', async (t) => isRefused(t, 'P5'))
t.test('POST that reads is refused [M10]', async (t) => isRefused(t, 'M10'))
t.test('versions that are no plain integer are refused [V1]', async (t) => isRefused(t, 'V1'))
t.test('versions by query parameter, header or constraint are refused [V2]', async (t) => isRefused(t, 'V2'))

t.test('P3 tells verbs, extensions and hung actions apart', async (t) => {
  t.match(brokenRules({ url: '/v1/getOrders' }).P3, /begins with a verb/)
  t.match(brokenRules({ url: '/v1/orders/:id/cancel' }).P3, /begins with a verb/)
  t.match(brokenRules({ url: '/v1/orders.json' }).P3, /file extension/)
  t.match(brokenRules({ url: '/v1/orders/:id.json' }).P3, /file extension/)
  t.match(brokenRules({ url: '/v1/orders/:id::cancel' }).P3, /hangs an action/)
})

t.test('schemas that declare no properties pass', async (t) => {
  for (const querystring of [undefined, null, true, { type: 'object' }, { properties: null }, { allOf: 'x' }]) {
    t.strictSame(brokenRules({ url: '/v1/orders', schema: { querystring } }), {})
  }
})
