// Gives a description to the generators of clients that teams use most, and compiles what they write.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
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
  /** What the function `call` of the calls has returned. */
  readonly returned: unknown
}

/** Calls of the clients: a source that imports `./hey-api` and `./orval/client`, and exports `call(baseUrl)` where it is executed. */
interface Calls {
  readonly source?: string
  /** The address of the service. Without it, nothing is called. */
  readonly baseUrl?: string | undefined
}

/**
 * Generates clients of a description with Hey API and with orval, compiles them with calls of them, and executes these. Rejects if a generator refuses the
 * description, or a call rejects.
 */
export async function generatedClients(document: object, { source = '', baseUrl }: Calls = {}): Promise<GeneratedClients> {
  const folder = await mkdtemp(join(tmpdir(), 'concordat-clients-'))
  try {
    const [hey, orval] = [join(folder, 'hey-api'), join(folder, 'orval/client.ts')]
    await generateByHeyApi({ input: document as never, output: hey, logs: { level: 'silent', file: false } })
    await generateByOrval(
      {
        input: { target: document as never },
        output: { target: orval, client: 'fetch', mode: 'single', ...(baseUrl !== undefined && { baseUrl }) }
      },
      folder
    )
    const callsFile = join(folder, 'calls.ts')
    await writeFile(callsFile, source)
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
    const returned = baseUrl === undefined ? undefined : await called(program, folder, baseUrl)
    return { problems, returned, heyApi: sourceOf(join(hey, 'types.gen.ts')), orval: sourceOf(orval) }
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** Executes the calls as CommonJS, which needs no names of files in imports. */
async function called(program: ts.Program, folder: string, baseUrl: string): Promise<unknown> {
  const compilerOptions = { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022 }
  await writeFile(join(folder, 'package.json'), '{}')
  for (const { fileName, text } of program.getSourceFiles().filter((file) => file.fileName.startsWith(folder)))
    await writeFile(fileName.replace(/\.ts$/, '.js'), ts.transpileModule(text, { compilerOptions }).outputText)
  const { call } = createRequire(join(folder, 'calls.js'))('./calls.js') as { call: (baseUrl: string) => Promise<unknown> }
  return call(baseUrl)
}
