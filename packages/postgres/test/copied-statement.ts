import type { postgresWorkQueue } from '@concordat/postgres/work-queue'
import type { Test } from 'tap'
import { connect, freshSchema } from './database.ts'

/** Requires that the statement that takes jobs of keys does what that of the loaded version of pg-boss does, beside the shares of keys and parts. */
export async function requireSameTaking(t: Test, create: typeof postgresWorkQueue): Promise<void> {
  const { pool } = connect(t)
  const statements: string[] = []
  const place = {
    on: pool.on.bind(pool),
    connect: pool.connect.bind(pool),
    query(sql: string, values?: unknown[]) {
      statements.push(sql)
      return pool.query(sql, values)
    }
  }
  const schema = freshSchema(t)
  const queue = create(place, { schema })
  t.teardown(() => queue.close())
  for (const [name, perKey] of Object.entries({ theirs: undefined, ours: 2 })) {
    await queue.define(name)
    await queue.enqueue(name, [{ payload: 1, key: 'a' }])
    const done = Promise.withResolvers<void>()
    const stop = queue.work(name, async () => (done.resolve(), { done: true }), { concurrency: 1, perKey })
    await done.promise
    await stop()
  }
  const [theirs, ours] = ['theirs', 'ours'].map((name) =>
    partsOf(statements.find((sql) => sql.includes(`name = '${name}'`) && sql.includes('SKIP LOCKED')) ?? '', name)
  )
  t.strictSame(ours, theirs)
  t.match(theirs, { conditions: /not blocked/, order: /created_on/, changes: /heartbeat_on/ })
}

function partsOf(statement: string, name: string) {
  const sql = statement
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/\b(?:j|job)\.(?=[a-z])/g, '')
    .replaceAll(`'${name}'`, '?')
  const part = (pattern: RegExp) => pattern.exec(sql)?.[1]?.toLowerCase()
  return {
    conditions: part(/WHERE (name = \? AND state < 'active'.*?)(?: AND \(group_id| ORDER BY)/),
    order: part(/state < 'active'.*?ORDER BY (.*?) LIMIT/),
    lock: part(/LIMIT \d+ (FOR UPDATE .*?) \)/)?.replace(/of \w+/, 'of job'),
    changes: part(/SET (state = 'active'.*?) (?:FROM|WHERE)/)
  }
}
