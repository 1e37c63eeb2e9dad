import conventions, { type ConventionsOptions, serverOptions } from '@concordat/conventions'
import { memoryIdempotencyStore } from '@concordat/idempotency'
import { memoryJobStore } from '@concordat/jobs'
import { defineErrors } from '@concordat/plugin-kit/api-error'
import { contractOf, contribute, publish } from '@concordat/plugin-kit/wiring'
import { memoryWorkQueue } from '@concordat/work-queue'
import Fastify from 'fastify'
import fp from 'fastify-plugin'
import t, { type Test } from 'tap'

const lost = {
  statusCode: 503,
  retry: 'later' as const,
  message: { en: 'The transaction was lost.', es: 'La transacción se perdió.' },
  remedy: 'Send it again.'
}

/** Transactions without a database, which record the time limit of handlers. */
function fakeTransactions() {
  const registered: (number | undefined)[] = []
  const transactions = fp(async (app) => {
    registered.push(contractOf(app, 'handlerTimeout')?.seconds)
    contribute(app, 'errors', defineErrors({ TRANSACTION_LOST: lost }))
    publish(app, { transactions: { transactionOf: () => undefined, currentTransaction: () => undefined } })
  })
  return { transactions, registered }
}

async function start(t: Test, options: Partial<ConventionsOptions>) {
  const app = Fastify(serverOptions())
  t.teardown(() => app.close())
  await app.register(conventions, { publicUrl: 'https://api.example.com', versions: { 1: {} }, authentication: false, ...options })
  return app
}

const { transactions } = fakeTransactions()
const plainStore = memoryIdempotencyStore()
const plainQueue = memoryWorkQueue()
const store = { ...plainStore, guarantees: { shared: true, transactional: true } }
const queue = { ...plainQueue, capabilities: { durable: true, transactional: true, distributed: true } }
const owner = () => 'ada'
t.teardown(() => plainQueue.close())

function missing(store: string) {
  return `conventions: options.transactions must be set, because options.stores.${store} is transactional. Use the transactions of the same database, for example postgresTransactions(database).`
}

t.test('a transactional store without transactions stops the start', async (t) => {
  await t.rejects(start(t, { stores: { idempotency: store } }), { message: missing('idempotency') })
  await t.rejects(start(t, { stores: { queue } }), { message: missing('queue') })
  await t.resolves(start(t, { stores: { idempotency: plainStore, queue: plainQueue } }))
})

t.test('transactions without the stores that must write in them stop the start', async (t) => {
  const idempotency = {
    message:
      'conventions: options.stores.idempotency must be set, because options.transactions is set. Use a store in the same database, for example postgresStores(database).idempotency.'
  }
  await t.rejects(start(t, { transactions }), idempotency)
  await t.rejects(start(t, { transactions, idempotency: { waitSeconds: 1 } }), idempotency)
  await t.resolves(start(t, { transactions, idempotency: false }))
  await t.resolves(start(t, { transactions, idempotency: { store: plainStore } }))
  const message =
    'conventions: options.stores.queue must be transactional, because options.transactions is set. Use a queue in the same database, for example postgresWorkQueue(pool).'
  const webhooks = { events: {}, mayReceive: 'everyone' } as const
  const stores = { idempotency: store, jobs: memoryJobStore() }
  await t.rejects(start(t, { transactions, stores, jobs: { owner } }), { message })
  await t.rejects(start(t, { transactions, stores: { ...stores, queue: plainQueue }, jobs: { owner } }), { message })
  await t.rejects(start(t, { transactions, stores, webhooks }), { message })
  await t.resolves(start(t, { transactions, stores: { ...stores, queue }, jobs: { owner } }))
  await t.resolves(start(t, { transactions, stores, jobs: { owner, queue } }))
})

t.test('the preset registers the transactions with the time limit of handlers, and lists their errors', async (t) => {
  const fake = fakeTransactions()
  const options = { transactions: fake.transactions, stores: { idempotency: store } }
  const app = await start(t, options)
  await start(t, { ...options, transportSecurity: { handlerTimeoutSeconds: 7 } })
  await start(t, { ...options, transportSecurity: false })
  t.strictSame(fake.registered, [30, 7, undefined])
  t.match(app.errorCatalogue.find('TRANSACTION_LOST'), lost)
})
