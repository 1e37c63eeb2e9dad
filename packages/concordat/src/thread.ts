import { realpathSync, statSync } from 'node:fs'
import { Worker } from 'node:worker_threads'

// Documents of 2 MB are compared in a few seconds. A pattern in a schema can take longer than anyone waits.
const minDeadlineSeconds = 20
const secondsPerMegabyte = 15

/**
 * Runs this command in a thread, so that a document can take neither all the time nor all the memory. Returns the exit code of the command, and 2 with
 * one line where the thread was stopped.
 */
export async function runInThread(args: readonly string[]): Promise<number> {
  const deadlineSeconds = Math.ceil(args.map(megabytesIn).reduce((sum, size) => sum + size * secondsPerMegabyte, minDeadlineSeconds))
  const worker = new Worker(realpathSync(process.argv[1] as string), { argv: [...args] })
  let stopped: string | undefined
  const deadline = setTimeout(() => {
    stopped = `The documents could not be processed within ${deadlineSeconds} seconds. Look for patterns that backtrack, and for unions in unions.`
    void worker.terminate()
  }, deadlineSeconds * 1000)
  worker.on('error', (error) => {
    stopped = `The documents could not be processed: ${error.message.split('\n')[0]}`
  })
  const code = await new Promise<number>((resolve) => worker.on('exit', resolve))
  clearTimeout(deadline)
  if (stopped === undefined) return code
  process.stderr.write(`${stopped}\n`)
  return 2
}

// What cannot be read is refused in the thread.
function megabytesIn(name: string) {
  try {
    return statSync(name).size / 1024 / 1024
  } catch {
    return 0
  }
}
