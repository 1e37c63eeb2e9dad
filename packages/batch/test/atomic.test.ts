import batch from '@concordat/batch'
import type { ApiError, ErrorList } from '@concordat/plugin-kit/api-error'
import { type Contracts, contributions, publish } from '@concordat/plugin-kit/wiring'
import Fastify, { type FastifyInstance } from 'fastify'
import t from 'tap'
import { serviceWith } from './service.ts'

const transaction = { beforeCommit() {}, isRolledBack: true }

/** Creates a database with one transaction at a time: a list of names. `failureBytes` are added to the response of an operation that fails. */
function database(failureBytes?: number) {
  const kept: string[] = []
  let open: string[] | undefined
  const transactions: Contracts['transactions'] = {
    currentTransaction: () => undefined,
    async runAsOne(_request, work) {
      open = []
      try {
        const result = await work()
        if (open.includes('uncommittable')) throw Object.assign(new Error('conflict'), { statusCode: 503 })
        kept.push(...open)
        return result
      } finally {
        open = undefined
      }
    },
    transactionOf: ({ routeOptions }) => (routeOptions.url === '/things/outside' ? undefined : transaction)
  }
  const padding = (name: string) => (failureBytes !== undefined && name.startsWith('bad') ? { padding: 'x'.repeat(failureBytes) } : {})
  const routes = (app: FastifyInstance) => {
    app.put<{ Params: { name: string } }>('/things/:name', async ({ params, headers }, reply) => {
      ;(open ?? kept).push(params.name)
      return reply
        .code(params.name.startsWith('bad') ? 409 : 200)
        .send({ name: params.name, key: headers['idempotency-key'], ...padding(params.name) })
    })
    app.put('/things/outside', async () => kept.push('outside'))
  }
  return { kept, transactions, routes, isOpen: () => open !== undefined }
}

const put = (name: string) => ({ method: 'PUT', path: `/things/${name}` })

t.test('an atomic batch commits all operations, or none and reports it in every outcome [B1]', async (t) => {
  const { kept, transactions, routes } = database()
  const { outcomesOf } = await serviceWith(t, routes, { published: { transactions }, route: { atomic: 'byRequest' } })
  const statuses = async (names: string[], more = {}) => (await outcomesOf(names.map(put), more)).map(({ status }) => status)
  t.strictSame(await statuses(['a', 'b'], { atomic: true }), [200, 200])
  t.strictSame(kept, ['a', 'b'])
  const outcomes = await outcomesOf(['c', 'bad', 'd'].map(put), { atomic: true })
  t.strictSame(
    outcomes.map(({ status, body }) => [status, body.code]),
    [
      [424, 'BATCH_OPERATION_UNDONE'],
      [409, undefined],
      [424, 'BATCH_OPERATION_UNDONE']
    ]
  )
  t.strictSame(outcomes[1]?.body, { name: 'bad' })
  t.strictSame(kept, ['a', 'b'])
  t.strictSame(await statuses(['e', 'bad', 'f']), [200, 409, 200], 'a batch without atomic: true is not atomic')
  t.strictSame(kept, ['a', 'b', 'e', 'bad', 'f'])
})

t.test('rejects operations that cannot be rolled back, and returns 404 for an unknown path', async (t) => {
  const { kept, transactions, routes } = database()
  const { outcomesOf } = await serviceWith(t, routes, { published: { transactions }, route: { atomic: 'always' } })
  t.match(await outcomesOf([put('a'), put('outside')]), [{ status: 424 }, { status: 409, body: { code: 'BATCH_OPERATION_NOT_ATOMIC' } }])
  t.match(await outcomesOf([put('a'), { path: '/things/a/nowhere' }]), [{ status: 424 }, { status: 404 }])
  t.strictSame(kept, [])
})

t.test('what the operation that failed says of a retry holds for those that were undone', async (t) => {
  const bodies: readonly (readonly [type: string, body: string, retry: string | undefined])[] = [
    ['application/json', '{"error":{"retry":"never"}}', 'never'],
    ['application/json', '{"error":{}}', undefined],
    ['application/json', 'null', undefined],
    ['text/plain', 'not JSON', undefined]
  ]
  for (const [type, body, retry] of bodies) {
    const { transactions } = database()
    const routes = (app: FastifyInstance) => {
      app.setErrorHandler<ApiError>((error, _request, reply) => reply.code(error.statusCode).send({ code: error.code, retry: error.retry }))
      app.put('/things/:name', async () => ({}))
      app.put('/things/bad', async (_request, reply) => reply.code(404).type(type).send(body))
    }
    const { outcomesOf } = await serviceWith(t, routes, { published: { transactions }, route: { atomic: 'always' } })
    t.strictSame((await outcomesOf([put('a'), put('bad')]))[0]?.body, { code: 'BATCH_OPERATION_UNDONE', ...(retry && { retry }) }, body)
  }
})

t.test('the outcomes of a batch that was rolled back have at most 786,432 bytes of bodies', async (t) => {
  const { transactions, routes } = database(786_400)
  const { outcomesOf } = await serviceWith(t, routes, {
    published: { transactions },
    route: { atomic: 'always' }
  })
  const outcomes = await outcomesOf([put('bad'), put('a')])
  t.match(outcomes, [
    { status: 409, body: { name: 'bad' } },
    { status: 424, headers: { 'content-length': /^\d+$/ } }
  ])
  t.notOk(outcomes[1]?.body)
})

t.test('a failed commit is the response to the whole batch', async (t) => {
  const { kept, transactions, routes } = database()
  const { send } = await serviceWith(t, routes, { published: { transactions }, route: { atomic: 'always' } })
  t.equal((await send({ operations: [{ id: 'a', ...put('uncommittable') }] })).status, 503)
  t.strictSame(kept, [])
})

t.test('when its transaction ends before its operations, a batch starts no other operation', async (t) => {
  const [begun, released, finished] = [Promise.withResolvers<void>(), Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const runs: string[] = []
  const transactions: Contracts['transactions'] = {
    currentTransaction: () => undefined,
    async runAsOne(_request, work) {
      void work().catch(finished.resolve)
      await begun.promise
      throw Object.assign(new Error('timed out'), { statusCode: 503 })
    },
    transactionOf: () => transaction
  }
  const routes = (app: FastifyInstance) =>
    app.put<{ Params: { name: string } }>('/things/:name', async ({ params }) => {
      runs.push(params.name)
      begun.resolve()
      await released.promise
      return {}
    })
  const { send } = await serviceWith(t, routes, { published: { transactions }, route: { atomic: 'always' } })
  const operations = ['a', 'b'].map((name) => ({ id: name, ...put(name) }))
  t.equal((await send({ operations })).status, 503)
  released.resolve()
  await finished.promise
  t.strictSame(runs, ['a'])
})

t.test('a batch that is not atomic opens no transaction', async (t) => {
  const { transactions, isOpen } = database()
  const { outcomesOf } = await serviceWith(t, (app) => app.get('/things', async () => ({ isOpen: isOpen() })), {
    published: { transactions },
    route: { atomic: 'byRequest' }
  })
  t.strictSame((await outcomesOf([{ path: '/things' }]))[0]?.body, { isOpen: false })
  t.strictSame((await outcomesOf([{ path: '/things' }], { atomic: true }))[0]?.body, { isOpen: true })
})

t.test('an operation that changes something gets, without its own key, a key that is derived from the key of the batch', async (t) => {
  const { outcomesOf } = await serviceWith(
    t,
    (app) =>
      app.route({
        method: ['POST', 'PATCH', 'PUT', 'GET'],
        url: '/things',
        handler: async ({ headers }) => ({ key: headers['idempotency-key'] })
      }),
    {
      published: {
        idempotency: {
          keyOf: () => ({
            derivedKey: (id) => `derived:${id}`,
            progress: undefined,
            storedBody: undefined,
            storedForm: (body) => body,
            release() {}
          }),
          isReplay: () => false,
          isStored: () => false,
          handlerNotStarted() {}
        }
      }
    }
  )
  const outcomes = await outcomesOf([
    { method: 'POST', path: '/things' },
    { method: 'PATCH', path: '/things' },
    { method: 'PUT', path: '/things' },
    { method: 'GET', path: '/things' },
    { method: 'POST', path: '/things', headers: { 'Idempotency-Key': 'own' } }
  ])
  t.strictSame(
    outcomes.map(({ body }) => body.key),
    ['derived:0', 'derived:1', 'derived:2', undefined, 'own']
  )
})

t.test('the description of a batch has its atomicity, and every error of this package that an outcome can be [B1] [X3]', async (t) => {
  const ofAtomic = ['BATCH_OPERATION_UNDONE', 'BATCH_OPERATION_NOT_ATOMIC']
  for (const atomic of ['never', 'byRequest', 'always'] as const) {
    const published: { description?: string; 'x-batch'?: { atomic: string; outcomes: Record<string, string[]> } }[] = []
    const app = Fastify()
    t.teardown(() => app.close())
    app.addHook('onRoute', ({ schema }) => void published.push(schema as object))
    publish(app, { transactions: database().transactions })
    await app.register(batch)
    app.batch('/batches', { paths: ['/things'], atomic })
    const { description = '', 'x-batch': facts } = published[0] ?? {}
    t.equal(facts?.atomic, atomic)
    t.match(
      description,
      { never: /remain, even/, byRequest: /unless the batch is `atomic`/, always: /All operations take effect, or none/ }[atomic]
    )
    const expected = (contributions(app, 'errors') as readonly ErrorList[])
      .flatMap(({ definitions }) => Object.entries(definitions))
      .filter(([code]) => code !== 'BATCH_INVALID' && (atomic !== 'never' || !ofAtomic.includes(code)))
    const found = Object.entries(facts?.outcomes ?? {}).flatMap(([status, codes]) => codes.map((code) => `${status} ${code}`))
    t.strictSame(found.toSorted(), expected.map(([code, { statusCode }]) => `${statusCode} ${code}`).toSorted())
    for (const [code, { statusCode }] of expected) t.ok(description.includes(`- ${statusCode} \`${code}\`: `))
  }
})
