import type { IdempotencyStore } from '@concordat/idempotency'

async function gone(): Promise<never> {
  throw new Error('The store is down.')
}

/** Returns a store whose methods fail while `isDown` returns true for them. */
export function failing(
  store: IdempotencyStore,
  isDown: (method: 'begin' | 'renew' | 'complete' | 'release') => boolean
): IdempotencyStore {
  return {
    ...store,
    begin: (...args) => (isDown('begin') ? gone() : store.begin(...args)),
    renew: (...args) => (isDown('renew') ? gone() : store.renew(...args)),
    complete: (...args) => (isDown('complete') ? gone() : store.complete(...args)),
    release: (...args) => (isDown('release') ? gone() : store.release(...args))
  }
}
