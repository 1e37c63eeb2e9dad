import type { BeginOutcome, Claim, IdempotencyStore } from '@concordat/idempotency'
import { isConflict } from '../connections/failure.ts'
import { type Postgres, parseRows, type StoreOptions, schemaOf } from '../connections/postgres.ts'
import { type Unit, unitBehind } from '../unit-of-work/unit.ts'
import { type CountedClaim, outcomeOf, readUntilKnown } from './record.ts'
import { type Setup, shortcomings } from './setup.ts'
import { statementsFor, valuesOf } from './statements.ts'
import { type ClaimInput, TransactionClaims } from './transaction-claims.ts'
import { Waiters } from './waiters.ts'

type StatementOf = (token: number) => readonly [sql: string, values: readonly unknown[]]

// What a record takes in the table and its indexes, without the response.
const recordBytes = 400
const minCountedBytes = 16_384
// A row counts at least this share of what the client has stored already: 1,000,000 records of a client have about 300 rows, and a claim adds them up.
const countedShare = 1 / 32
const maxCountedBytes = 2 ** 30

/**
 * Creates a store of claims and responses in PostgreSQL. On a route with a transaction of the unit of work, the claim is sent with BEGIN, and committed
 * with the domain writes and the response; until then, a lock that ends with the connection protects the key. On other routes a claim is a lease.
 */
export function postgresIdempotencyStore(database: Postgres, options: StoreOptions = {}): IdempotencyStore {
  const schema = schemaOf(options)
  const statements = statementsFor(schema)
  const waiters = new Waiters(database, `${schema}_idempotency`)
  const claims = new TransactionClaims(statements, (key) => waiters.notify(key))

  /** Runs a statement on a claimed key and returns whether the caller still owned the claim. */
  async function write(claim: Claim, make: StatementOf) {
    const held = claims.of(claim)
    if (held !== undefined) return parseRows<number>(await held.unit.session.query(() => make(held.token)))[0] === 1
    return (await database.query<number>(...make(claim.token)))[0] === 1
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
  function outcomeAfter(unit: Unit, input: ClaimInput): Promise<BeginOutcome> {
    const { key, fingerprint, terms } = input
    return database.fields(statements.read(key, fingerprint)).then((rows) => {
      const outcome = outcomeOf(rows, key, terms)
      return outcome?.state === 'done' || outcome?.state === 'mismatch' ? outcome : claims.begin(unit, input)
    })
  }

  function lease({ key, fingerprint, terms }: ClaimInput): Promise<BeginOutcome> {
    const claim = statements.claim(key, fingerprint, terms)
    return readUntilKnown(async () => {
      // If the default isolation of the database is above READ COMMITTED, a record that was just written is reported as a conflict.
      const rows = await database.fields(claim).catch((error: unknown) => {
        if (isConflict(error)) return []
        throw error
      })
      return outcomeOf(rows, key, terms)
    })
  }

  return {
    guarantees: { shared: true, transactional: true },
    begin(key, fingerprint, terms) {
      const input: ClaimInput = { key, fingerprint, terms }
      const unit = terms.transaction && unitBehind(terms.transaction, 'enclosing')
      const beside = claims.outcomeBeside(input)
      if (beside !== undefined || unit === undefined) return beside ?? lease(input)
      // A retry needs no transaction. Inside that of another request, no second connection may be taken.
      if (!claims.hasStored(key) || unit.session.isPart) return claims.begin(unit, input)
      return outcomeAfter(unit, input)
    },
    renew: (claim, leaseMs) => write(claim, (token) => [statements.renew, [claim.key, token, leaseMs]]),
    complete(claim, response, lifetimeMs) {
      const { headers, body } = response
      const held = claims.of(claim)
      const clientBytes = (held ?? (claim as CountedClaim)).clientBytes ?? 0
      const size = countedSize(JSON.stringify(headers).length + (body === null ? 0 : Buffer.byteLength(body)), clientBytes)
      const completion = (token: number) => ({ ...claim, token, response, lifetimeMs, size })
      if (held === undefined || held.isSettled)
        return end(claim, (token) => [statements.complete, valuesOf(completion(token))]).then((isOwn) => (isOwn ? 'stored' : 'lost'))
      held.isSettled = true
      const holding = held.unit.session.hold(() =>
        held.isNew ? statements.insert(held.fingerprint, completion(held.token)) : statements.completeOrFail(completion(held.token))
      )
      return holding === undefined ? 'stored' : holding.then(() => 'stored')
    },
    async release(claim) {
      const held = claims.of(claim)
      // Nothing is written yet.
      const isUnwritten = held?.isNew && !held.isSettled
      if (isUnwritten) held.isSettled = true
      const isOwn = isUnwritten || (await end(claim, (token) => [statements.release, [claim.key, token]]))
      return isOwn ? 'released' : 'lost'
    },
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
 * with more bytes and the probability of its share in them: the sum is right on average, and most responses write no second row.
 */
function countedSize(bytes: number, clientBytes: number): number | undefined {
  const size = recordBytes + bytes
  const counted = Math.min(Math.max(minCountedBytes, clientBytes * countedShare), maxCountedBytes)
  return Math.random() * counted < size ? Math.ceil(Math.max(size, counted)) : undefined
}
