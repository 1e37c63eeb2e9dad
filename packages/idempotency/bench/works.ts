// pnpm bench idempotency: a POST with validation, with new keys and with replays, compared with bare Fastify.
const body = JSON.stringify({ customer: 'ada', note: 'By the door.', lines: [1, 2, 3].map((n) => ({ product: `tea-${n}`, quantity: n })) })
let keys = 0
const freshKey = () => `"${String((keys += 1)).padStart(36, '0')}"`
const sameKey = () => `"${String(keys++ % 1000).padStart(36, 'x')}"`

const server = (way: string, replayed: 'true' | null) => ({
  server: [way],
  status: 201,
  ...(way !== 'bare' && { against: 'bare' }),
  load: (address: string) => load(address, replayed, freshKey)
})
const replaying = (way: string) => ({
  ...server(way, 'true'),
  // The second argument gives this case its own process.
  server: [way, 'replay'],
  async load(address: string) {
    for (let n = 0; n < 1000; n += 1) await post(address, sameKey())
    return load(address, 'true', sameKey)
  }
})

export const works = [
  { name: 'bare', ...server('bare', null) },
  { name: 'new key', ...server('new key', 'true') },
  { name: 'replay', ...replaying('replay') },
  { name: 'hand-written, new key', ...server('hand-written', 'true') },
  { name: 'hand-written, replay', ...replaying('hand-written') }
]

async function load(address: string, replayed: 'true' | null, key: () => string) {
  const again = freshKey()
  const [first, retry] = [await post(address, again), await post(address, again)]
  if (first.status !== 201 || retry.headers.get('idempotency-replayed') !== replayed)
    throw new Error(`The server responded with ${first.status}, then replayed: ${retry.headers.get('idempotency-replayed')}`)
  return {
    url: `${address}/orders`,
    method: 'POST' as const,
    body,
    // A new object for each request, because autocannon retains the object it receives.
    requests: [{ setupRequest: (request: object) => ({ ...request, headers: headersWith(key()) }) }]
  }
}

function post(address: string, key: string) {
  return fetch(`${address}/orders`, { method: 'POST', headers: headersWith(key), body })
}

function headersWith(key: string) {
  return { 'content-type': 'application/json', 'idempotency-key': key }
}
