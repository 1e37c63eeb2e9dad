// Starts the process that creates the databases that tests of the example copy, before the run, and that removes them after it.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { repository } from './workspace.ts'

export interface Prepared {
  /** The variables that name the databases for the tests. */
  readonly env: Readonly<Record<string, string>>
  remove(): Promise<void>
}

/** Prepares the databases on PGlite, and on the PostgreSQL of `TEST_DATABASE_URL` if it is set. */
export async function prepareDatabases(env: NodeJS.ProcessEnv): Promise<Prepared> {
  const program = ['--conditions=@concordat/source', 'examples/orders-service/test/prepare-databases.ts']
  const server = env['TEST_DATABASE_URL']
  const child = spawn(process.execPath, [...program, ...(server === undefined ? [] : [server])], {
    cwd: repository,
    env,
    stdio: ['pipe', 'pipe', 'inherit']
  })
  const ended = once(child, 'close')
  const failed = ended.then(() => Promise.reject(new Error('The databases of the example could not be prepared.')))
  failed.catch(() => {})
  const [line] = await Promise.race([once(child.stdout, 'data'), failed])
  return {
    env: JSON.parse(String(line)),
    async remove() {
      child.stdin.end()
      await ended
    }
  }
}
