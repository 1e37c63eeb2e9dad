import { memoryWorkQueue, type Outcome, type Transaction, type WorkQueue } from '@concordat/work-queue'
import type { PGlite, Transaction as PGliteTransaction } from '@electric-sql/pglite'
import { expectTypeOf } from 'expect-type'
import type { Client, PoolClient } from 'pg'

expectTypeOf(memoryWorkQueue()).toEqualTypeOf<WorkQueue>()
expectTypeOf<Client>().toExtend<Transaction>()
expectTypeOf<PoolClient>().toExtend<Transaction>()
expectTypeOf<PGliteTransaction>().toExtend<Transaction>()
expectTypeOf<PGlite>().toExtend<Transaction>()
expectTypeOf<{ done: true }>().toExtend<Outcome>()
expectTypeOf<{ done: false }>().not.toExtend<Outcome>()
expectTypeOf<{ retryInSeconds: number }>().toExtend<Outcome>()
