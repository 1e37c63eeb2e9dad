import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { scaled } from '@concordat/test-harness/scale'
import t, { type Test } from 'tap'
import { freshSchema, onServer, schemaName, server } from './database.ts'
import { type WebhookLoad, webhookSoak } from './soak/webhook-soak.ts'

// Most of the time is spent waiting for the leases of killed processes to expire.
t.jobs = 2

t.test(
  'loses no acknowledged event on PGlite files when processes are killed while they emit and deliver',
  { buffered: true },
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'webhooks-'))
    t.teardown(() => rmSync(folder, { recursive: true, force: true }))
    await killAndCompare(t, { where: join(folder, 'data'), schema: schemaName(), processes: 1, kills: scaled(1, 3), lifeMs: 500 })
  }
)

t.test(
  'loses no acknowledged event on PostgreSQL when processes are killed while they emit and deliver',
  { ...onServer, buffered: true },
  async (t) => {
    const schema = freshSchema(t)
    freshSchema(t, `${schema}_queue`)
    await killAndCompare(t, { where: server, schema, processes: 2, kills: scaled(2, 7), lifeMs: 1000 })
  }
)

async function killAndCompare(t: Test, load: WebhookLoad) {
  const report = await webhookSoak(load)
  t.comment(JSON.stringify(report))
  t.match(report, { kills: load.kills, lost: 0, unexplained: 0, strangers: 0, unrecorded: 0 })
  t.ok(report.acknowledged > 0)
}
