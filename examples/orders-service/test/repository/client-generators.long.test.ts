// Client generators can use the descriptions without changes.
import { generatedClients } from '@concordat/test-harness/generated-clients'
import t from 'tap'
import { startService } from '../service.ts'

const { app } = await startService(t, { publicUrl: undefined, rateLimit: 'on', localWebhooks: true })

for (const version of ['v1', 'v2'])
  t.test(`other generators produce clients of ${version} that compile with strict`, async (t) => {
    const { problems, heyApi, orval } = await generatedClients((await app.inject(`/${version}/openapi`)).json())
    t.strictSame(problems, [])
    for (const source of [heyApi, orval]) t.match(source, /total\[gte\]/)
  })
