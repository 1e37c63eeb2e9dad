// Client generators can use the descriptions without changes.
import { generatedClients } from '@concordat/test-harness/generated-clients'
import t from 'tap'
import { startService } from '../service.ts'

const { app } = await startService(t, { publicUrl: undefined, rateLimit: 'on', localWebhooks: true })

const upload = `
import { createProductImport as createByHeyApi } from './hey-api'
import { createProductImport as createByOrval } from './orval/client'
const file = new Blob(['name'], { type: 'text/csv' })
export const headers = { 'Idempotency-Key': 'a-key' }
export const calls = [
  () => createByHeyApi({ headers, body: { file, dryRun: true } }),
  () => createByOrval({ file, dryRun: true }, { headers })
]
`

for (const version of ['v1', 'v2'])
  t.test(`other generators produce clients of ${version} that compile with strict`, async (t) => {
    const { problems, heyApi, orval } = await generatedClients(
      (await app.inject(`/${version}/openapi`)).json(),
      version === 'v2' ? upload : ''
    )
    t.strictSame(problems, [])
    for (const source of [heyApi, orval]) t.match(source, /total\[gte\]/)
  })
