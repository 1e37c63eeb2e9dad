import type { IdempotencyStore } from '../store.ts'

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
    begin: (...told) => (isDown('begin') ? gone() : store.begin(...told)),
    renew: (...told) => (isDown('renew') ? gone() : store.renew(...told)),
    complete: (...told) => (isDown('complete') ? gone() : store.complete(...told)),
    release: (...told) => (isDown('release') ? gone() : store.release(...told))
  }
}
