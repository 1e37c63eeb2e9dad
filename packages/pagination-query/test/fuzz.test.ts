import { setImmediate } from 'node:timers/promises'
import { randomFrom } from '@concordat/test-harness/random'
import { scaled } from '@concordat/test-harness/scale'
import t from 'tap'
import { ordersApp, pagedOrders, rows } from './orders.ts'

// The test prints a failing query and the seed of the whole run.
const queries = scaled(2000, 100_000)
const seed = Number(process.env['SEED'] ?? Date.now() % 2 ** 31)

const next = randomFrom(seed)
const random = (below: number) => Math.floor(next() * below)
const pick = <Item>(items: readonly Item[]) => items[random(items.length)] as Item

const names = [
  ...pagedOrders.parameters.map(({ name }) => name),
  'after',
  'offset',
  'limit',
  'note',
  '__proto__',
  'constructor',
  'toString',
  'total[',
  'total[]',
  '[',
  ']',
  '[gte]',
  'total[gte][gte]',
  'total[prototype]',
  '__proto__[x]',
  'constructor[prototype]',
  '',
  'q',
  'pge',
  'total%5Bgte%5D',
  '%',
  '%ff',
  '%00',
  '%F0%9F%98%80',
  'a'.repeat(500)
]
const values = [
  '',
  '0',
  '1',
  '-1',
  '7',
  '100',
  '101',
  '1e400',
  'NaN',
  'Infinity',
  'true',
  'false',
  'null',
  'undefined',
  '1.50',
  '-0',
  '9223372036854775808',
  '2026-01-31',
  '2026-02-30',
  '2026-01-31T10:00:00Z',
  '2026-01-31T10:00:00%2B02:00',
  'paid',
  'paid,shipped',
  'paid,,shipped',
  'total',
  '-total',
  '-',
  'status,-placedAt',
  'id,total',
  '__proto__',
  (rows[0] as { id: string }).id,
  '\\',
  '\\,',
  '\\\\,',
  ',',
  '%5C',
  '%2C',
  '%00',
  '%ff',
  '%',
  '+',
  '%20',
  "'",
  '"',
  '%F0%9F%98%80',
  '%ED%A0%80',
  '%EF%BF%BD',
  '[object Object]',
  'x'.repeat(41),
  '1,'.repeat(120),
  'AeoZ7KMRfiVAOjd5iZavFBT8WzEs',
  'A'.repeat(1024),
  'A'.repeat(1100)
]
const characters = 'abtoe019,.-_~!*\'()[]%+=&;:@/?\\"{}|^`<>'

function fuzzedText() {
  return Array.from({ length: random(12) }, () => characters.charAt(random(characters.length))).join('')
}

function fuzzedQuery() {
  const pairs = Array.from({ length: 1 + random(random(20) === 0 ? 60 : 6) }, () => {
    const name = random(10) === 0 ? fuzzedText() : pick(names)
    const value = random(10) === 0 ? fuzzedText() : pick(values)
    return random(20) === 0 ? name : `${name}=${value}`
  })
  return pairs.join('&')
}

function isDecodable(query: string) {
  try {
    return decodeURIComponent(query) !== undefined
  } catch {
    return false
  }
}

t.test(`responds with 200 or 422, and 400 to what is not percent-encoded UTF-8, to ${queries} random queries`, async (t) => {
  t.comment(`SEED=${seed}`)
  const app = await ordersApp()
  // Sets the raw URL, because inject would encode some of the characters.
  app.addHook('onRequest', async ({ raw, headers }) => {
    raw.url = `${raw.url}?${String(headers['x-query'])}`
  })
  const prototypes = [Object.prototype, Array.prototype, String.prototype, Map.prototype]
  const before = prototypes.map((prototype) => Reflect.ownKeys(prototype).length)
  const found = new Map<number, number>()
  for (let count = 0; count < queries; count += 1) {
    // Injected requests leave work for the event loop. Without a turn of the loop, a million of them fill the memory.
    if (count % 100 === 0) await setImmediate()
    const query = fuzzedQuery()
    const path = random(2) === 0 ? '/paged' : '/orders'
    const response = await app.inject({ url: path, headers: { 'x-query': query } })
    found.set(response.statusCode, (found.get(response.statusCode) ?? 0) + 1)
    const valid =
      response.statusCode === 200 ||
      (response.statusCode === 422 && response.json().errors.length > 0) ||
      (response.statusCode === 400 && !isDecodable(query))
    if (!valid) t.fail(`${response.statusCode} for ${path}?${query}: ${response.body.slice(0, 300)}`)
    const names: string[] = response.statusCode === 422 ? response.json().errors.map(({ field }: { field: string }) => field) : []
    if (names.some((name) => name.length > 106)) t.fail(`echoes too much of ${query}`)
  }
  t.strictSame([...found.keys()].sort(), [200, 400, 422])
  t.comment(JSON.stringify(Object.fromEntries(found)))
  t.strictSame(
    prototypes.map((prototype) => Reflect.ownKeys(prototype).length),
    before,
    'no prototype has new properties'
  )
  t.strictSame(Reflect.ownKeys({}), [])
})
