// Client generators can use the descriptions without changes, and their clients can call the service.
import type { AddressInfo } from 'node:net'
import { generatedClients } from '@concordat/test-harness/generated-clients'
import t from 'tap'
import { password, startService } from '../service.ts'

const { app } = await startService(t, { publicUrl: undefined, rateLimit: 'on', localWebhooks: true })
await app.listen({ host: '127.0.0.1', port: 0 })
const baseUrl = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`

const upload = `
import { createProductImport as createByHeyApi } from './hey-api'
import { createProductImport as createByOrval } from './orval/client'
const file = new Blob(['name'], { type: 'text/csv' })
export const keyed = { 'Idempotency-Key': 'a-key' }
export const uploads = [
  () => createByHeyApi({ headers: keyed, body: { file, dryRun: true } }),
  () => createByOrval({ file, dryRun: true }, { headers: keyed })
]
`

const calls = `
import * as hey from './hey-api'
import { client } from './hey-api/client.gen'
import * as orval from './orval/client'
const user = { username: 'ops@example.com', password: '${password}' }
export async function call(baseUrl: string) {
  client.setConfig({ baseUrl, throwOnError: true })
  const { data: signedIn } = await hey.createToken({ body: user })
  const headers = { authorization: 'Bearer ' + signedIn?.data.accessToken }
  client.setConfig({ headers })
  const list = { perPage: 2, sort: 'name' } as const
  const { data: products } = await hey.listProducts({ query: list })
  const sameProducts = await orval.listProducts(list)
  const { data: customers } = await hey.listCustomers({ query: { perPage: 1 } })
  const body = {
    customerId: customers?.data[0]?.id as string,
    items: [{ productId: products?.data[0]?.id as string, quantity: 1 }]
  }
  const { data: placed } = await hey.createOrder({ body, headers: { 'Idempotency-Key': crypto.randomUUID() } })
  const placedAgain = await orval.createOrder(body, { headers: { ...headers, 'Idempotency-Key': crypto.randomUUID() } })
  return [products?.data.length, sameProducts.status === 200 && sameProducts.data.data.length, typeof placed?.data.id, placedAgain.status]
}
`

for (const version of ['v1', 'v2'])
  t.test(`other generators produce clients of ${version} that compile with strict, and call the service`, async (t) => {
    const { problems, heyApi, orval, returned } = await generatedClients((await app.inject(`/${version}/openapi`)).json(), {
      source: version === 'v2' ? calls + upload : calls,
      baseUrl
    })
    t.strictSame(problems, [])
    for (const source of [heyApi, orval]) t.match(source, /total\[gte\]/)
    t.strictSame(returned, [2, 2, 'string', 201])
  })
