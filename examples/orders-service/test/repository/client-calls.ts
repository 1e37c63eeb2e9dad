// What a caller does, on any runtime: one file without Node.js.
import { createClient, createSession, isCode } from '@concordat/client'
import { api } from './shop.ts'

/** What every runtime must find. */
interface Found {
  readonly listed: number
  readonly isReplayed: string | null
  readonly unitsInStock: number
  readonly customers: number
  readonly isRefreshed: boolean
  readonly missing: number | false
}

/** Calls the service at an address, and returns what it has found. */
export async function calls(baseUrl: string, credentials: object): Promise<Found> {
  const session = createSession(api)
  const shop = createClient(api, { baseUrl, session })
  await session.signIn(credentials)
  const first = await session.token()

  const listed: string[] = []
  for await (const { id } of shop.list('/v2/products', { query: { perPage: 20, sort: 'name', fields: ['id'] } })) listed.push(id)
  // The proxy loses the response of the first attempt, and refuses the first token.
  const { data: product, response } = await shop
    .post('/v2/products', {
      body: {
        name: 'Rye Bread',
        categoryId: (await shop.get('/v2/categories'))[0]?.id as string,
        unitPrice: '3.33',
        currency: 'EUR',
        unitsInStock: 2
      }
    })
    .withResponse()
  const path = { id: product.id }
  const changed = await shop.update('/v2/products/{id}', { path }, ({ unitsInStock }) => ({ unitsInStock: unitsInStock + 1 }))
  const customers = await shop.get('/v2/customers', { query: { perPage: 1 } })
  const missing = await shop.get('/v2/orders/{id}', { path: { id: '00000000-0000-7000-8000-000000000000' } }).result()
  await shop.delete('/v2/products/{id}', { path })
  return {
    listed: new Set(listed).size,
    isReplayed: response.headers.get('idempotency-replayed'),
    unitsInStock: changed.unitsInStock,
    customers: customers.length,
    isRefreshed: (await session.token()) !== first,
    missing: !missing.ok && isCode(missing.error, 'RESOURCE_NOT_FOUND') && missing.error.status
  }
}
