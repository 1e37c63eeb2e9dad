// pnpm bench idempotency: a POST with validation, with new keys and with replays, against the bare one.
const body = JSON.stringify({ customer: 'ada', note: 'By the door.', lines: [1, 2, 3].map((n) => ({ product: `tea-${n}`, quantity: n })) })
let keys = 0
const freshKey = () => `"${String((keys += 1)).padStart(36, '0')}"`
const sameKey = () => `"${String(keys++ % 1000).padStart(36, 'x')}"`

export const works = [
  { name: 'bare', server: ['bare'], status: 201, load: (address: string) => load(address, null, freshKey) },
  { name: 'new key', server: ['new key'], against: 'bare', status: 201, load: (address: string) => load(address, 'true', freshKey) },
  {
    name: 'replay',
    server: ['replay'],
    against: 'bare',
    status: 201,
    async load(address: string) {
      for (let n = 0; n < 1000; n += 1) await post(address, sameKey())
      return load(address, 'true', sameKey)
    }
  }
]

async function load(address: string, replayed: 'true' | null, key: () => string) {
  const again = freshKey()
  const [first, retry] = [await post(address, again), await post(address, again)]
  if (first.status !== 201 || retry.headers.get('idempotency-replayed') !== replayed)
    throw new Error(`The server answers ${first.status}, then replayed: ${retry.headers.get('idempotency-replayed')}`)
  return {
    url: `${address}/orders`,
    method: 'POST' as const,
    body,
    // A new object each time: autocannon keeps the one that it is given.
    requests: [{ setupRequest: (request: object) => ({ ...request, headers: headersWith(key()) }) }]
  }
}

function post(address: string, key: string) {
  return fetch(`${address}/orders`, { method: 'POST', headers: headersWith(key), body })
}

function headersWith(key: string) {
  return { 'content-type': 'application/json', 'idempotency-key': key }
}
