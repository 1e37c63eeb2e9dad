// The description of a service whose schemas are those of Zod, in the generators of clients that teams use most.
import type { AddressInfo } from 'node:net'
import conventions, { serverOptions } from '@concordat/conventions'
import { collection } from '@concordat/pagination-query'
import { runArray } from '@concordat/pagination-query/memory'
import standardSchema from '@concordat/standard-schema'
import { generatedClients } from '@concordat/test-harness/generated-clients'
import Fastify from 'fastify'
import t from 'tap'
import { z } from 'zod'

const Payment = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('bank'), iban: z.string().min(5).max(40) }),
  z.object({ kind: z.literal('card'), number: z.string().min(12).max(20) })
])
const Visit = z.object({
  id: z.uuid(),
  patient: z.string().max(80),
  startsAt: z.iso.datetime(),
  minutes: z.int32().min(1),
  note: z.string().max(200).optional(),
  payment: Payment.optional()
})
const NewVisit = Visit.omit({ id: true })
type Visit = z.infer<typeof Visit>

const calls = `
import * as hey from './hey-api'
import { client } from './hey-api/client.gen'
import * as orval from './orval/client'
export async function call(baseUrl: string) {
  client.setConfig({ baseUrl, throwOnError: true })
  const body = { patient: 'Ada', startsAt: '2026-11-29T10:00:00Z', minutes: 30, payment: { kind: 'bank', iban: 'DE123' } } as const
  const { data: created } = await hey.createVisit({ body })
  const second = await orval.createVisit({ ...body, patient: 'Bob', note: 'Early.', payment: undefined })
  const { data: list } = await hey.listVisits({ query: { sort: 'startsAt' } })
  const same = await orval.listVisits({ perPage: 1 })
  const refused = await orval.createVisit({ ...body, minutes: 0 })
  return [
    created?.data.payment,
    second.status === 201 && second.data.data.note,
    list?.data.map(({ patient }) => patient),
    same.status === 200 && same.data.data.length,
    refused.status
  ]
}
`

t.test('Hey API and orval produce clients of a service with Zod that compile with strict, and call it', async (t) => {
  const visits: Visit[] = []
  const app = Fastify(serverOptions())
  t.teardown(() => app.close())
  await app.register(standardSchema)
  await app.register(conventions, {
    publicUrl: 'https://visits.example',
    versions: { 1: {} },
    authentication: false,
    idempotency: { scope: () => 'a' },
    transportSecurity: { dangerouslyAllowHttp: 'loopback' },
    paginationQuery: { cursor: { secrets: ['fJ2mYp7Qw4Zt9LxN8vBc3KdR6sHg1TaE'] } }
  })
  const listed = collection(Visit)({ name: 'visits', style: 'page', id: 'id', defaultSort: ['startsAt'], sort: { keys: ['startsAt'] } })
  await app.apiVersion(1, async (v1) => {
    v1.get('/visits', { config: { collection: listed }, schema: { response: { 200: z.array(Visit) } } }, async (request, reply) =>
      reply.page(runArray(visits, request.listQuery(listed)))
    )
    v1.post('/visits', { config: { idempotency: 'off' }, schema: { body: NewVisit, response: { 201: Visit } } }, async (request, reply) => {
      const visit = { id: crypto.randomUUID(), ...(request.body as z.infer<typeof NewVisit>) }
      visits.push(visit)
      return reply.code(201).send(visit)
    })
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const baseUrl = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
  const document = (await (await fetch(`${baseUrl}/v1/openapi`)).json()) as object
  const { problems, returned } = await generatedClients(document, { source: calls, baseUrl })
  t.strictSame(problems, [])
  t.strictSame(returned, [{ kind: 'bank', iban: 'DE123' }, 'Early.', ['Ada', 'Bob'], 1, 422])
})
