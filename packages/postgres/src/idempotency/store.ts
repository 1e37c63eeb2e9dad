import type { BeginOutcome, Claim, IdempotencyStore } from '@concordat/idempotency'
import { isConflict } from '../failure.ts'
import { type Postgres, parseRows, type StoreOptions, schemaOf } from '../postgres.ts'
import { unitBehind } from '../unit-of-work/unit.ts'
import { outcomeOf, type ReadRecord, readUntilKnown } from './record.ts'
import { type Setup, shortcomings } from './setup.ts'
import { statementsFor } from './statements.ts'
import { type ClaimInput, TransactionClaims } from './transaction-claims.ts'
import { Waiters } from './waiters.ts'

// About what a record takes in the table and its indexes, without the response.
const recordBytes = 300
const minRecordBytes = 1024
const minCountedBytes = 16_384

/**
 * Creates a store of claims and responses in PostgreSQL. On a route with a transaction of the unit of work, the claim is sent with BEGIN, and committed
 * with the domain writes and the response; until then, a lock that ends with the connection protects the key. On other routes a claim is a lease.
 */
export function postgresIdempotencyStore(database: Postgres, options: StoreOptions = {}): IdempotencyStore {
  const schema = schemaOf(options)
  const statements = statementsFor(schema)
  const waiters = new Waiters(database, `${schema}_idempotency`)
  const claims = new TransactionClaims((key) => waiters.notify(key))

  /** Runs a statement on a claimed key and returns whether the caller still owned the claim. */
  async function write(claim: Claim, sql: string, values: readonly unknown[] = []) {
    const held = claims.of(claim)
    const params = () => [claim.key, held?.token ?? claim.token, ...values]
    const [count] = held ? parseRows<number>(await held.unit.session.query(sql, params)) : await database.query<number>(sql, params())
    return count === 1
  }

  /** Does the same with a statement after which the key is free or has a response. In a transaction, that is announced at its end. */
  async function end(claim: Claim, sql: string, values?: readonly unknown[]) {
    const isOwn = await write(claim, sql, values)
    if (claims.of(claim) === undefined) waiters.notify(claim.key)
    return isOwn
  }

  function lease({ key, sql, terms }: ClaimInput): Promise<BeginOutcome> {
    return readUntilKnown(async () => {
      // If the default isolation of the database is above READ COMMITTED, a record that was just written is reported as a conflict.
      const [found] = await database.query<ReadRecord>(sql).catch((error: unknown) => {
        if (isConflict(error)) return []
        throw error
      })
      return found && outcomeOf(key, found, terms)
    })
  }

  return {
    guarantees: { shared: true, transactional: true },
    async begin(key, fingerprint, terms) {
      const input: ClaimInput = { key, fingerprint, terms, sql: statements.claim(key, fingerprint, terms) }
      const unit = terms.transaction && unitBehind(terms.transaction, 'enclosing')
      return claims.outcomeBeside(input) ?? (unit ? claims.begin(unit, input) : lease(input))
    },
    renew: (claim, leaseMs) => write(claim, statements.renew, [leaseMs]),
    async complete(claim, { status, headers, body, isProgress = false }, lifetimeMs) {
      const response = [status, JSON.stringify(headers), typeof body === 'string' ? Buffer.from(body) : body] as const
      const values = [...response, lifetimeMs, isProgress]
      const size = countedSize(response[1].length + (response[2]?.byteLength ?? 0))
      const isOwn = await (size === undefined
        ? end(claim, statements.complete, values)
        : end(claim, statements.completeAndCount, [...values, claim.client, size]))
      return isOwn ? 'stored' : 'lost'
    },
    release: async (claim) => ((await end(claim, statements.release)) ? 'released' : 'lost'),
    changed: (key, signal) => waiters.wait(key, signal),
    sweep: async (maximum) => (await database.background.query<number>(statements.sweep, [maximum]))[0] ?? 0,
    async check() {
      const [setup] = await database.query<Setup>(statements.check)
      return setup ? shortcomings(setup, schema, database.isEmbedded) : []
    },
    close: () => waiters.close()
  }
}

/**
 * Returns the size with which a response of so many bytes is counted for its client, or undefined for one that is not counted. A small one is counted
 * with the smallest size and the probability of its share in it: the sum is right on average, and most small responses write no second row.
 */
function countedSize(bytes: number): number | undefined {
  const size = Math.max(recordBytes + bytes, minRecordBytes)
  return Math.random() * minCountedBytes < size ? Math.max(size, minCountedBytes) : undefined
}
