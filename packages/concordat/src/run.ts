import { isMainThread } from 'node:worker_threads'
import { printable, Refusal, readFlags } from 'create-concordat'
import { commands, flags } from './commands.ts'
import { sendArgument, sendTexts } from './texts/text-sender.ts'
import { runInThread } from './thread.ts'

/** Runs the command. Returns the exit code: 0 without findings, 1 with findings, 2 when the command or a file is invalid. */
export async function run(args: readonly string[]): Promise<number> {
  if (args[0] === sendArgument) return sendTexts()
  if (isMainThread && (args[0] === 'diff' || args[0] === 'lint')) return runInThread(args)
  try {
    const report = await perform(args)
    const { text, isWrong } = typeof report === 'string' ? { text: report, isWrong: false } : report
    console.log(text)
    return isWrong ? 1 : 0
  } catch (error) {
    console.error(printable(lineOf(error as Error)))
    return 2
  }
}

async function perform(args: readonly string[]) {
  const { values, positionals } = readFlags({ args: [...args], allowPositionals: true, options: flags }, 'npx concordat')
  if (values.help === true) return commands.map(({ usage, help }) => `concordat ${usage}\n${help.replaceAll(/^/gm, '  ')}`).join('\n')
  for (const { name, maxArguments, minArguments = maxArguments, perform } of commands) {
    const words = name.split(' ')
    const rest = positionals.slice(words.length)
    if (words.every((word, index) => positionals[index] === word) && rest.length >= minArguments && rest.length <= maxArguments)
      return perform(rest, values)
  }
  const what = positionals.length === 0 ? 'The command is missing' : `"${positionals.join(' ')}" is not a valid command`
  throw new Refusal(`${what}. Run npx concordat --help for the commands.`)
}

// One line: Node.js adds the modules that required a missing one.
function lineOf({ message }: Error): string {
  if (message === 'Maximum call stack size exceeded')
    return 'The document is nested too deeply, or its references form too long a chain. Describe it with fewer levels.'
  return message.split('\n')[0] as string
}
