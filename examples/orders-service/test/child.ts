import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { childEnvironment, nodeOptions } from '@concordat/test-harness/child'
import type { Test } from 'tap'
import { describedFetch } from './described-answers.ts'

/** The service as a process of its own. */
export interface Child {
  readonly process: ChildProcess
  /** Where it listens, once it has said so; rejects when it ends before. */
  readonly address: Promise<string>
  /** Everything that it printed, and its exit code, once it has ended. */
  readonly ended: Promise<{ readonly code: number | null; readonly out: string; readonly err: string }>
}

/** The header of somebody who has signed in there. */
export async function signIn(address: string, username = 'ops@example.com'): Promise<{ authorization: string }> {
  const answer = await describedFetch(`${address}/v1/tokens`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username, password: 'correct horse battery staple' })
  })
  const { data } = (await answer.json()) as { data: { accessToken: string } }
  return { authorization: `Bearer ${data.accessToken}` }
}

/**
 * Starts the service as `npm start` does, on a free port unless `PORT` says otherwise. It is killed when the test ends. With the
 * environment of this process, what it runs counts as covered, and it starts later.
 */
export function startChild(t: Test, env: Readonly<Record<string, string>>, inherited: NodeJS.ProcessEnv = childEnvironment()): Child {
  const child = spawn(process.execPath, [...nodeOptions, fileURLToPath(new URL('../src/main.ts', import.meta.url))], {
    env: { ...inherited, DATABASE_URL: '', NODE_ENV: 'test', LOG_LEVEL: 'silent', PORT: '0', SEED_ORDERS: '20', ...env }
  })
  t.teardown(() => child.kill('SIGKILL'))
  let out = ''
  let err = ''
  child.stderr.on('data', (data) => (err += data))
  const address = new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (data) => {
      out += data
      const found = /Orders service at (\S+)/.exec(out)?.[1]
      if (found !== undefined) resolve(found)
    })
    child.once('exit', () => reject(new Error(`It ended before it listened: ${err}`)))
  })
  address.catch(() => {})
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, out, err }))
  return { process: child, address, ended }
}
