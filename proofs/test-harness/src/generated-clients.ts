// Gives a description to the generators of clients that teams use most, and compiles what they write.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient as generateByHeyApi } from '@hey-api/openapi-ts'
import { generate as generateByOrval } from 'orval'
import ts from 'typescript'

/** The clients of a description: their sources, and what the compiler reports of them with `strict`. */
interface GeneratedClients {
  readonly problems: readonly string[]
  readonly heyApi: string
  readonly orval: string
}

/**
 * Generates clients of a description with Hey API and with orval, and compiles them with calls of them: a source that imports `./hey-api` and
 * `./orval/client`. Rejects if a generator refuses the description.
 */
export async function generatedClients(document: object, calls = ''): Promise<GeneratedClients> {
  const folder = await mkdtemp(join(tmpdir(), 'concordat-clients-'))
  try {
    const [hey, orval] = [join(folder, 'hey-api'), join(folder, 'orval/client.ts')]
    await generateByHeyApi({ input: document as never, output: hey, logs: { level: 'silent', file: false } })
    await generateByOrval({ input: { target: document as never }, output: { target: orval, client: 'fetch', mode: 'single' } }, folder)
    const callsFile = join(folder, 'calls.ts')
    await writeFile(callsFile, calls)
    const program = ts.createProgram([join(hey, 'index.ts'), orval, callsFile], {
      strict: true,
      noEmit: true,
      skipDefaultLibCheck: true,
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.ESNext,
      moduleResolution: ts.ModuleResolutionKind.Bundler,
      lib: ['lib.es2022.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
      types: []
    })
    const problems = ts
      .getPreEmitDiagnostics(program)
      .map(({ file, messageText }) => `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`)
    const sourceOf = (file: string) => program.getSourceFile(file)?.text ?? ''
    return { problems, heyApi: sourceOf(join(hey, 'types.gen.ts')), orval: sourceOf(orval) }
  } finally {
    await rm(folder, { recursive: true })
  }
}
