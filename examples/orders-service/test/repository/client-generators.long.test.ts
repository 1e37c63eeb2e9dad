// Client generators can use the description without changes.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient as generateByHeyApi } from '@hey-api/openapi-ts'
import { generate as generateByOrval } from 'orval'
import t from 'tap'
import ts from 'typescript'
import { startService } from '../service.ts'

const { app } = await startService(t, { publicUrl: undefined, rateLimit: 'on', localWebhooks: true })
const document = (await app.inject('/v2/openapi')).json()

t.test('other generators produce clients that compile with strict', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'orders-service-clients-'))
  t.teardown(() => rm(folder, { recursive: true }))
  const [hey, orval] = [join(folder, 'hey-api'), join(folder, 'orval/client.ts')]
  await generateByHeyApi({ input: document, output: hey, logs: { level: 'silent', file: false } })
  await generateByOrval({ input: { target: document }, output: { target: orval, client: 'fetch', mode: 'single' } }, folder)
  const program = ts.createProgram([join(hey, 'index.ts'), orval], {
    strict: true,
    noEmit: true,
    skipDefaultLibCheck: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    lib: ['lib.es2022.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
    types: []
  })
  t.match(program.getSourceFile(orval)?.text, /total\[gte\]/)
  t.match(program.getSourceFile(join(hey, 'types.gen.ts'))?.text, /total\[gte\]/)
  t.strictSame(
    ts
      .getPreEmitDiagnostics(program)
      .map(({ file, messageText }) => `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`),
    []
  )
})
