import standardSchema from '@concordat/standard-schema'
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import Fastify from 'fastify'
import * as v from 'valibot'
import { z } from 'zod'

const jsonOrder = {
  type: 'object',
  required: ['product', 'quantity'],
  properties: { product: { type: 'string' }, quantity: { type: 'integer', minimum: 1 } }
}
const plain = { Order: jsonOrder, Orders: { type: 'array', items: jsonOrder } }
const zodOrder = z.object({ product: z.string(), quantity: z.int().min(1) })
const valibotOrder = v.object({ product: v.string(), quantity: v.pipe(v.number(), v.integer(), v.minValue(1)) })
const kinds: Readonly<Record<string, { readonly Order: object; readonly Orders: object }>> = {
  plain,
  registered: plain,
  zod: { Order: zodOrder, Orders: z.array(zodOrder) },
  valibot: { Order: toStandardJsonSchema(valibotOrder), Orders: toStandardJsonSchema(v.array(valibotOrder)) }
}
const fifty = Array.from({ length: 50 }, () => ({ product: 'tea', quantity: 2 }))

export async function serve(kind: string) {
  const { Order, Orders } = kinds[kind] ?? plain
  const app = Fastify()
  if (kind !== 'plain') await app.register(standardSchema)
  app.post('/orders', { schema: { body: Order, response: { 200: Order } } }, async ({ body }) => body)
  app.get('/list', { schema: { response: { 200: Orders } } }, async () => fifty)
  return { app }
}
