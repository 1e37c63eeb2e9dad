import { mock } from 'node:test'
import files, { memoryFileStore } from '@concordat/files'
import { fileStoreContract } from '@concordat/files/testing'
import Fastify from 'fastify'
import t from 'tap'

t.test('the store in memory', async (t) => {
  const tests: Promise<unknown>[] = []
  fileStoreContract((title, run) => tests.push(t.test(title, run)), memoryFileStore)
  await Promise.all(tests)
})

t.test('what requests without an end have staged is swept every hour; a failure is logged', async (t) => {
  const swept: number[] = []
  const warnings: string[] = []
  const now = Date.parse('2026-05-01T00:00:00Z')
  const store = Object.assign(memoryFileStore(), {
    async sweep(before: number) {
      swept.push(before)
      if (swept.length === 1) return 100
      throw new Error('the database is away')
    }
  })
  mock.timers.enable({ apis: ['setInterval', 'Date'], now })
  t.teardown(() => mock.timers.reset())
  const app = Fastify({ logger: { level: 'warn', stream: { write: (line: string) => void warnings.push(line) } } })
  await app.register(files, { store })
  await app.ready()
  mock.timers.tick(60_000)
  await new Promise(setImmediate)
  t.strictSame(swept, [now + 60_000 - 86_400_000], 'at most 100 a minute')
  mock.timers.tick(60_000)
  while (warnings.length === 0) await new Promise(setImmediate)
  t.match(warnings[0], /staged objects .* were not deleted/)
  await app.close()
})
