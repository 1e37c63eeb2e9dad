import type { BeginOutcome, Claim, IdempotencyStore } from '@concordat/idempotency'
import { isConflict } from '../failure.ts'
import { type Postgres, parseRows, requireSchema, type StoreOptions } from '../postgres.ts'
import { type Unit, unitBehind } from '../unit-of-work/unit.ts'
import { bytesOf, type Look, lookUntilKnown, outcomeOf } from './record.ts'
import { type Setup, shortcomings } from './setup.ts'
import { statementsFor } from './statements.ts'
import { TransactionClaims, type Wish } from './transaction-claims.ts'
import { Waiters } from './waiters.ts'
import { within } from './within.ts'

/** Options of {@link postgresIdempotency}. */
export interface IdempotencyStoreOptions extends StoreOptions {
  /** The timeout of each operation on PostgreSQL, in seconds. @default 5 */
  readonly timeoutSeconds?: number | undefined
}

/**
 * Creates a store of claims and responses in PostgreSQL. On a route with a transaction of the unit of work, the claim is sent with BEGIN in
 * one message, and the claim, the domain writes and the response are committed together. Until then the key is locked by a lock that ends
 * with the connection. On other routes a claim is a lease, and each method is one statement.
 */
export function postgresIdempotency(
  database: Postgres,
  { schema = 'concordat', timeoutSeconds = 5 }: IdempotencyStoreOptions = {}
): IdempotencyStore {
  const statements = statementsFor(requireSchema(schema))
  const waiters = new Waiters(database, `${schema}_idempotency`)
  const claims = new TransactionClaims((key) => waiters.tell(key))
  if (!(Number.isFinite(timeoutSeconds) && timeoutSeconds > 0)) {
    throw new TypeError(`postgres: options.timeoutSeconds of the idempotency store is ${timeoutSeconds}. It must be a positive number.`)
  }

  /** Returns whether the caller still owned the claim. */
  async function write(claim: Claim, sql: string, values: readonly unknown[] = []) {
    const held = claims.of(claim)
    const params = () => [claim.key, held?.token ?? claim.token, ...values]
    const [count] = held ? parseRows<number>(await held.unit.query(sql, params)) : await ask<number>(sql, params())
    return count === 1
  }

  function ask<Row>(sql: string, params: readonly unknown[] = []) {
    return within(timeoutSeconds, database.query<Row>(sql, params))
  }

  // A claim that succeeds after the timeout would block the next owner of the key.
  function beginIn(unit: Unit, wish: Wish) {
    const giveUp = () => {
      wish.isGivenUp = true
    }
    return within(
      timeoutSeconds,
      claim(wish, () => claims.begin(unit, wish)),
      { giveUp }
    )
  }

  function beginLease(wish: Wish) {
    const begun = claim(wish, () => lease(wish))
    return within(timeoutSeconds, begun, { discard: giveBack })
  }

  function giveBack(late: BeginOutcome) {
    if (late.state === 'claimed') store.release(late.claim).catch(() => {})
  }

  async function claim(wish: Wish, begin: () => Promise<BeginOutcome>) {
    return claims.outcomeBeside(wish) ?? begin()
  }

  function lease({ key, sql, terms }: Wish): Promise<BeginOutcome> {
    return lookUntilKnown(async () => {
      // If the default isolation of the database is above READ COMMITTED, a record that was just written is reported as a conflict.
      const [found] = await database.query<Look>(sql).catch((error: unknown) => {
        if (isConflict(error)) return []
        throw error
      })
      return found && outcomeOf(key, found, terms)
    })
  }

  const store: IdempotencyStore = {
    guarantees: { durable: true, shared: true, transactional: true },
    begin(key, fingerprint, terms) {
      const wish: Wish = { isGivenUp: false, key, fingerprint, terms, sql: statements.claim(key, fingerprint, terms) }
      return terms.transaction ? beginIn(unitBehind(terms.transaction), wish) : beginLease(wish)
    },
    renew: (claim, leaseMilliseconds) => write(claim, statements.renew, [leaseMilliseconds]),
    async complete(claim, { status, headers, body }, lifetimeMilliseconds) {
      const isOwn = await write(claim, statements.complete, [status, JSON.stringify(headers), bytesOf(body), lifetimeMilliseconds])
      if (claims.of(claim) === undefined) waiters.tell(claim.key)
      return isOwn ? 'stored' : 'lost'
    },
    async release(claim) {
      const isOwn = await write(claim, statements.release)
      if (claims.of(claim) === undefined) waiters.tell(claim.key)
      return isOwn ? 'released' : 'lost'
    },
    changed: (key, signal) => waiters.wait(key, signal),
    sweep: async (maximum) => (await ask<number>(statements.sweep, [maximum]))[0] ?? 0,
    async check() {
      const [setup] = await ask<Setup>(statements.check)
      return setup ? shortcomings(setup, schema, database.isEmbedded) : []
    },
    close: () => waiters.close()
  }
  return store
}
