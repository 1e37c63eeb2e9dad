import process from 'node:process'

/** A command: it gets its arguments and returns its exit code. */
export interface Command {
  run(args: readonly string[]): Promise<number>
}

/**
 * Runs a command and sets the exit code, if this Node.js is recent enough. Every version of Node.js can run this file; what `load` imports needs a
 * recent one.
 */
export async function start(load: () => Promise<Command>): Promise<void> {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major < 22 || (major === 22 && minor < 19)) {
    process.stderr.write(`Node.js ${process.versions.node} is too old. Install version 22.19 or later.\n`)
    process.exitCode = 1
    return
  }
  const command = await load()
  process.exitCode = await command.run(process.argv.slice(2))
}
