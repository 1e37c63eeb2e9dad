import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { childEnvironment, nodeOptions } from '@concordat/test-harness/child'
import { describedFetch } from '@concordat/testing'
import type { Test } from 'tap'

/** The service as a separate process. */
export interface Child {
  readonly process: ChildProcess
  /** The address that the service listens on. Rejects when the process ends before it listens. */
  readonly address: Promise<string>
  /** The output and the exit code of the process, after it has ended. */
  readonly ended: Promise<{ readonly code: number | null; readonly out: string; readonly err: string }>
}

/** Signs a user in and returns the header with the access token. */
export async function signIn(address: string, username = 'ops@example.com'): Promise<{ authorization: string }> {
  const response = await describedFetch(`${address}/v1/tokens`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username, password: 'correct horse battery staple' })
  })
  if (response.status !== 200) throw new Error(`${username} cannot sign in: ${response.status} ${await response.text()}`)
  const { data } = (await response.json()) as { data: { accessToken: string } }
  return { authorization: `Bearer ${data.accessToken}` }
}

/**
 * Starts the service as `npm start` does, on a free port unless `PORT` is set. The process is killed when the test ends. With the
 * environment of this process, the code that it runs counts for the coverage, and it starts more slowly.
 */
export function startChild(t: Test, env: Readonly<Record<string, string>>, inherited: NodeJS.ProcessEnv = childEnvironment()): Child {
  const child = spawn(process.execPath, [...nodeOptions, fileURLToPath(new URL('../../src/main.ts', import.meta.url))], {
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
    child.once('exit', () => reject(new Error(`The process ended before it listened: ${err}`)))
  })
  address.catch(() => {})
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, out, err }))
  return { process: child, address, ended }
}
