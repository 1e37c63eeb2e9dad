import { createInterface } from 'node:readline'
import { listed, oneOf } from './arguments.ts'
import { type Choices, defaults, features, valuesOf } from './choices.ts'
import { Refusal } from './project.ts'
import { printable } from './terminal.ts'

/** What is asked for: the folder, and the choices that were not made. */
export interface Answers {
  readonly folder: string
  readonly choices: Partial<Choices>
}

/** Asks for the folder and the choices that are missing. An empty answer selects the default; an invalid one is asked again. */
export async function ask(folder: string | undefined, given: Partial<Choices>): Promise<Answers> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  terminal.once('SIGINT', () => terminal.close())
  const lines = terminal[Symbol.asyncIterator]()

  async function answer<Answer>(question: string, read: (text: string) => Answer): Promise<Answer> {
    process.stdout.write(`${question} `)
    const { value, done } = await lines.next()
    // Control-C and control-D end the input.
    if (done) throw new Refusal('Nothing was created. Answer the questions, or run with --yes.')
    try {
      return read(value.trim())
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      console.log(printable(error.message))
      return answer(question, read)
    }
  }

  try {
    const where = folder ?? (await answer('Folder of the service? (my-service)', (text) => text || 'my-service'))
    const choices: Partial<Choices> = { ...given }
    for (const name of ['database', 'schema', 'tests'] as const) {
      if (given[name] !== undefined) continue
      const question = `${name}: ${valuesOf(name)}? (${defaults[name]})`
      Object.assign(choices, await answer(question, (text) => oneOf(name, text || defaults[name])))
    }
    if (given.with === undefined) Object.assign(choices, { with: await answer(`with: which of ${features.join(', ')}? (none)`, listed) })
    return { folder: where, choices }
  } finally {
    terminal.close()
  }
}
