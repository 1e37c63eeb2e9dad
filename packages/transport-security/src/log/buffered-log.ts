import pino from 'pino'

const blockBytes = 4096
const maxDelayMs = 1000

let output: ReturnType<typeof pino.destination> | undefined

/**
 * Returns the standard output for log lines, which are written together: in blocks, and at the latest after a second. The rest is written when the process
 * ends by itself, by `process.exit`, or by an error that nobody catches. All servers of a process share it, so that their lines stay in order.
 */
export function bufferedOutput(): { write(line: string): unknown } {
  if (output !== undefined) return output
  // Written synchronously, as pino does by default: a write that another thread has begun could be lost at the end of the process.
  const created = pino.destination({ dest: 1, sync: true, minLength: blockBytes, periodicFlush: maxDelayMs })
  process.on('exit', () => created.flushSync())
  output = created
  return created
}
