// pnpm bench batch: compares 100 requests on one keep-alive connection, one batch of 100 operations, and one request whose handler
// injects the 100 operations.
import { Agent, request } from 'node:http'

const operationsPerBatch = 100
const agent = new Agent({ keepAlive: true, maxSockets: 1 })

export const works = (['GET', 'PUT'] as const).flatMap((method) => {
  const operations = Array.from({ length: operationsPerBatch }, (_, n) => ({
    id: String(n),
    method,
    path: `/products/${n}`,
    ...(method === 'PUT' && { body: { name: `Tea ${n}` } })
  }))
  const batch = JSON.stringify({ operations })
  const requests = `${method}: requests`
  return [
    {
      name: requests,
      server: [],
      load: (address: string) =>
        repeatedly(async () => {
          for (const { path, body } of operations) await call(address, method, path, body && JSON.stringify(body))
        })
    },
    {
      name: `${method}: batch`,
      server: [],
      against: requests,
      async load(address: string) {
        const [first] = operations as [(typeof operations)[number]]
        const alone = JSON.parse(await call(address, method, first.path, first.body && JSON.stringify(first.body))) as unknown
        const [outcome] = JSON.parse(await call(address, 'POST', '/product-batches', batch)) as [{ body: unknown }]
        if (JSON.stringify(outcome.body) !== JSON.stringify(alone))
          throw new Error(`The outcome of ${method} in a batch differs from the response to a request.`)
        return repeatedly(() => call(address, 'POST', '/product-batches', batch))
      }
    },
    {
      name: `${method}: injected`,
      server: [],
      against: requests,
      load: (address: string) => repeatedly(() => call(address, 'POST', '/injected', batch))
    }
  ]
})

function repeatedly(run: () => Promise<unknown>) {
  return async (seconds: number) => {
    let batches = 0
    for (const end = performance.now() + seconds * 1000; performance.now() < end; batches += 1) await run()
    return batches * operationsPerBatch
  }
}

function call(address: string, method: string, path: string, body?: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    const sent = request(`${address}${path}`, { method, agent, headers }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part
      })
      response.on('end', () => {
        if (response.statusCode === 200) resolve(text)
        else reject(new Error(`${method} ${path} returned ${response.statusCode}: ${text}`))
      })
    })
    sent.on('error', reject).end(body)
  })
}
