import type { Settings } from './options.ts'

/**
 * Throws a `TypeError` if a transactional store is set without `transactions`, or `transactions` is set without the transactional stores that it
 * requires.
 */
export function requireTransactionalStores(options: Settings): void {
  const { stores, transactions, idempotency, jobs, webhooks } = options
  if (transactions === undefined) {
    const isTransactional = {
      idempotency: stores.idempotency?.guarantees?.transactional,
      queue: stores.queue?.capabilities?.transactional
    }
    for (const [store, is] of Object.entries(isTransactional))
      if (is === true)
        throw new TypeError(
          `conventions: options.transactions must be set, because options.stores.${store} is transactional. Use the transactions of the same database, for example postgresTransactions(database).`
        )
    return
  }
  if (idempotency !== false && (idempotency?.store ?? stores.idempotency) === undefined)
    throw new TypeError(
      'conventions: options.stores.idempotency must be set, because options.transactions is set. Use a store in the same database, for example postgresStores(database).idempotency.'
    )
  for (const plugin of [jobs, webhooks])
    if (plugin !== undefined && (plugin.queue ?? stores.queue)?.capabilities?.transactional !== true)
      throw new TypeError(
        'conventions: options.stores.queue must be transactional, because options.transactions is set. Use a queue in the same database, for example postgresWorkQueue(pool).'
      )
}
