import { type ParseArgsConfig, parseArgs } from 'node:util'
import { Refusal } from './project.ts'

/** Reads arguments with `parseArgs` of Node.js. Throws a {@link Refusal} of one line for those that do not fit; `command` is what prints the flags. */
export function readFlags<Config extends ParseArgsConfig>(config: Config, command: string): ReturnType<typeof parseArgs<Config>> {
  try {
    return parseArgs(config)
  } catch (error) {
    // Node.js explains in further sentences how to pass such a text as a value.
    throw new Refusal(`${(error as Error).message.split(/\.\s/)[0]?.replace(/\.$/, '')}. Run ${command} --help for the flags.`)
  }
}
