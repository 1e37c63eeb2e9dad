import type { BeginOutcome, Claim, IdempotencyStore } from '@concordat/idempotency'
import { isConflict } from '../connections/failure.ts'
import { type Postgres, parseRows, type StoreOptions, schemaOf } from '../connections/postgres.ts'
import { unitBehind } from '../unit-of-work/unit.ts'
import { type KeptRecord, outcomeOf, type ReadRecord, readUntilKnown, unclaimed } from './record.ts'
import { type Setup, shortcomings } from './setup.ts'
import { statementsFor } from './statements.ts'
import { type ClaimInput, TransactionClaims } from './transaction-claims.ts'
import { Waiters } from './waiters.ts'

type StatementOf = (token: number) => readonly [sql: string, values: readonly unknown[]]

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
  async function write(claim: Claim, make: StatementOf) {
    const held = claims.of(claim)
    const [count] = held
      ? parseRows<number>(await held.unit.session.query(() => make(held.token)))
      : await database.query<number>(...make(claim.token))
    return count === 1
  }

  /** Does the same with a statement after which the key is free or has a response. In a transaction, that is announced at its end. */
  async function end(claim: Claim, make: StatementOf) {
    const held = claims.of(claim)
    if (held !== undefined) held.isSettled = true
    const isOwn = await write(claim, make)
    if (held === undefined) waiters.notify(claim.key)
    return isOwn
  }

  /** Returns the outcome for a key whose response this process has stored. A final response does not change. */
  async function outcomeAfter({ key, fingerprint, terms }: ClaimInput): Promise<BeginOutcome | undefined> {
    const [stored] = await database.query<KeptRecord>(...statements.read(key, fingerprint))
    const outcome = stored && outcomeOf(key, { ...unclaimed, stored }, terms)
    return outcome?.state === 'done' || outcome?.state === 'mismatch' ? outcome : undefined
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
      const beside = claims.outcomeBeside(input)
      if (beside !== undefined || unit === undefined) return beside ?? lease(input)
      // A retry needs no transaction. Inside that of another request, no second connection may be taken.
      const known = claims.hasStored(key) && !unit.session.isPart ? await outcomeAfter(input) : undefined
      return known ?? claims.begin(unit, input)
    },
    renew: (claim, leaseMs) => write(claim, (token) => [statements.renew, [claim.key, token, leaseMs]]),
    async complete(claim, response, lifetimeMs) {
      const { headers, body } = response
      const size = countedSize(JSON.stringify(headers).length + (body === null ? 0 : Buffer.byteLength(body)))
      const completion = (token: number) => ({ ...claim, token, response, lifetimeMs, size })
      const held = claims.of(claim)
      if (held !== undefined && !held.isSettled) {
        held.isSettled = true
        await held.unit.session.hold(() => statements.completeOrFail(completion(held.token)))
        return 'stored'
      }
      return (await end(claim, (token) => statements.complete(completion(token)))) ? 'stored' : 'lost'
    },
    release: async (claim) => ((await end(claim, (token) => [statements.release, [claim.key, token]])) ? 'released' : 'lost'),
    changed: async (key, signal) => waiters.wait(key, signal),
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
