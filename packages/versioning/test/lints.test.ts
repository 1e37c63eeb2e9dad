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

t.test('accepts the paths of a typical service [S1] [S9] [P1] [P2] [P3] [P5] [M10] [V1] [V2]', async (t) => {
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

// Each line: the rules that the path breaks, and the expected message of the first rule.
const table: readonly (readonly [rules: string, url: string, says: RegExp, route?: Partial<Route>])[] = [
  ['P1', '/orders', /it is outside every version\. Register it in app\.apiVersion/],
  ['P1', '/v1', /does not name a collection/],
  ['P1', '/v1/orders/*', /wildcard/],
  ['P1', '/v1/orders/', /empty segment.*Remove the double or trailing slash/],
  ['P1', '/v1/orders/', /"\/" below a prefix adds\. Write '' in place of '\/', or set prefixTrailingSlash: 'no-slash'/, { routePath: '/' }],
  ['P1', '/v1//orders', /empty segment/],
  ['P1', '/v1/orders/:id/items/', /empty segment/],
  ['P1', '/v1/orders/:from-:to', /":from-:to" is not a single plain parameter/],
  ['P1', '/v1/orders/:id?', /":id\?" is not a single/],
  ['P1', '/v1/:tenant/orders', /":tenant" does not follow a collection/],
  ['P1', '/v1/orders/:id/:item', /":item" does not follow a collection/],
  ['P1', '/v1/orders/items', /"items" follows a collection without an id.*<nouns>\/:id\/<nouns>/],
  ['P2', '/v1/Orders', /"Orders" is not in lower case with dashes\. Write "orders"/],
  ['P2', '/v1/orderItems', /Write "order-items"/],
  ['P2', '/v1/order_items', /Write "order-items"/],
  ['P2', '/v1/order', /"order" is not a plural\. Write "orders"/],
  ['P2', '/v1/orders/:id/shipping-address', /Write "shipping-addresses"/],
  ['P2', '/v1/orders/:id/complete', /For a resource, write "completes"; for an action, .* "cancellations"/, { method: 'POST' }],
  ['P2', '/v1/orders/:id/complete', /not a plural\. Write "completes"/],
  ['P2', '/v1/login', /not a plural\. Write "logins"/, { method: 'POST' }],
  ['P3', '/v1/orders/:id/cancel-request', /"cancel-request" starts with a verb/],
  ['P2', '/v1/--', /not in lower/],
  ['P2', '/v1/--', /not in lower/, { method: 'POST' }],
  ['P3', '/v1/create-orders', /"create-orders" starts with a verb/],
  ['P2 P3', '/v1/getOrders', /"getOrders" is not in lower/],
  ['P3', '/v1/orders/:id/cancel', /"cancel" starts with a verb/],
  ['P3', '/v1/sql-tables', /technology word "sql"/],
  ['P3', '/v1/order-json-documents', /technology word "json"/],
  ['P3', '/v1/apis', /technology word "apis"/],
  ['P3', '/v1/ob-orders', /abbreviation "ob"/],
  ['P3', '/v1/prdcts', /abbreviation "prdcts"\. Write out the word/],
  ['P2 P3', '/v1/orders.json', /not in lower/],
  ['P1 P3', '/v1/orders/:id.json', /not a single plain parameter/],
  ['P1 P3', '/v1/orders/:id::cancel', /not a single plain parameter/],
  ['P2 P3', '/v1/orders::cancel', /not in lower/],
  ['P3', '/v1/orders', /query parameter "action" chooses an operation/, { schema: query('page', 'action') }],
  ['P3', '/v1/orders', /"Op" chooses/, { schema: query('Op') }],
  ['P3', '/v1/orders', /"cmd" chooses/, { schema: { query: query('cmd').querystring } }],
  ['P3', '/v1/orders', /"method"/, { schema: { querystring: { allOf: [{ anyOf: [query('method').querystring, { oneOf: [true] }] }] } } }],
  ['P5', '/v1/orders/:id', /POST on an item.*noun below the item/, { method: 'POST' }],
  ['P5', '/v1/orders/:id', /POST on an item/, { method: ['PUT', 'POST'] }],
  ['M10', '/v1/order-searches', /uses POST to read data/, { method: 'POST' }],
  ['M10', '/v1/orders/:id/lookups', /waive this rule with the reason/, { method: 'POST' }],
  ['M10', '/v1/queries', /uses POST to read data/, { method: 'POST' }],
  ['V1', '/v1.2/orders', /"v1\.2" is not a valid version/],
  ['V1', '/v1.2.3/orders', /"v1\.2\.3" is not a valid version/],
  ['V1', '/v01/orders', /"v01" is not a valid version/],
  ['V1', '/v0/orders', /"v0" is not a valid version/],
  ['V1', '/V1/orders', /"V1" is not a valid version/],
  ['V2', '/v1/orders', /"apiVersion" selects a version.*remove "apiVersion"/, { schema: query('apiVersion') }],
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

t.test('rejects paths other than collections and items under a version [S1] [S9] [P1]', async (t) => isRefused(t, 'P1'))
t.test('rejects segments that are not lower-case plural nouns [P2]', async (t) => isRefused(t, 'P2'))
t.test('rejects verbs, technology words, abbreviations and operation parameters [S1] [P3]', async (t) => isRefused(t, 'P3'))
t.test('rejects POST on an item [P5]', async (t) => isRefused(t, 'P5'))
t.test('rejects POST that reads [M10]', async (t) => isRefused(t, 'M10'))
t.test('rejects versions that are not plain integers [V1]', async (t) => isRefused(t, 'V1'))
t.test('rejects versions in a query parameter, header or constraint [V2]', async (t) => isRefused(t, 'V2'))

t.test('P3 distinguishes verbs, file extensions and appended actions', async (t) => {
  t.match(brokenRules({ url: '/v1/getOrders' }).P3, /starts with a verb/)
  t.match(brokenRules({ url: '/v1/orders/:id/cancel' }).P3, /starts with a verb/)
  t.match(brokenRules({ url: '/v1/orders.json' }).P3, /file extension/)
  t.match(brokenRules({ url: '/v1/orders/:id.json' }).P3, /file extension/)
  t.match(brokenRules({ url: '/v1/orders/:id::cancel' }).P3, /appends an action/)
})

t.test('does not suggest a plural of a verb [P2] [P3]', async (t) => {
  for (const verb of ['approve', 'assign', 'cancel', 'confirm', 'publish', 'submit', 'assign-user']) {
    for (const method of ['POST', 'PUT', 'GET'])
      t.strictSame(Object.keys(brokenRules({ method, url: `/v1/tasks/:id/${verb}` })), ['P3'], `${method} ${verb}`)
  }
})

t.test('accepts schemas that do not declare properties', async (t) => {
  for (const querystring of [undefined, null, true, { type: 'object' }, { properties: null }, { allOf: 'x' }]) {
    t.strictSame(brokenRules({ url: '/v1/orders', schema: { querystring } }), {})
  }
})
